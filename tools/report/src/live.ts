// Follows a session that still runs: asks the server of `msleaks top --web` for the data of the run as it is now.
import type { PageFile } from "./data";
import { button, element } from "./text";

const RETRY_MS = 2000;

// Calls `take` with each new file. Shows in `header` whether the session still runs, with a button that stops and starts the questions.
export function follow(header: HTMLElement, every_ms: number, take: (file: PageFile) => void): void {
  const state = element("span", { role: "status", "data-live": "running" }, "The session still runs.");
  let timer = 0;
  const askLater = (after_ms: number) => {
    timer = window.setTimeout(() => void ask(), after_ms);
  };
  const ask = async () => {
    try {
      const answer = await fetch("data");
      if (!answer.ok) throw new Error(await answer.text());
      const file = (await answer.json()) as PageFile;
      take(file);
      state.textContent = file.live ? "The session still runs." : "The session has ended.";
      state.dataset.live = file.live ? "running" : "ended";
      if (file.live && pause.textContent === "Pause") askLater(file.live.every_ms);
      if (!file.live) pause.remove();
    } catch (error) {
      state.textContent = `No new data: ${error instanceof Error ? error.message : String(error)}`;
      state.dataset.live = "lost";
      askLater(RETRY_MS);
    }
  };
  const pause = button("Pause", () => {
    const goes_on = pause.textContent === "Pause";
    pause.textContent = goes_on ? "Go on" : "Pause";
    if (goes_on) window.clearTimeout(timer);
    else void ask();
  });
  header.append(element("p", { class: "buttons" }, state, pause));
  askLater(every_ms);
}
