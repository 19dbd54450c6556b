"""forked_dataset.py MODE [--fixed]: two forked processes read a dataset that was loaded before the fork.

    process    processes of `multiprocessing` read a list of texts. Fixed: a list of numbers in one array
    loader     the workers of PyTorch's DataLoader do: each reads half of the list

Afterwards, the processes stay for a while.
"""
import array
import multiprocessing
import sys
import time

RECORDS = 1_500_000
WORKERS, SECONDS = 2, 3


def load_texts():
    return [f"record {number}" for number in range(RECORDS)]  # guilty


def load_numbers():
    return array.array("q", range(5 * RECORDS))


def read(dataset):
    for _ in dataset:
        pass
    time.sleep(SECONDS)


def run_processes(dataset):
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=read, args=(dataset,)) for _ in range(WORKERS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return [worker.exitcode for worker in workers]


class Lines:
    def __init__(self, dataset):
        self.dataset = dataset

    def __len__(self):
        return len(self.dataset) // 1000

    def __getitem__(self, index):
        return sum(len(str(item)) for item in self.dataset[1000 * index:1000 * (index + 1)])


def run_loader(dataset):
    from torch.utils.data import DataLoader  # pylint: disable=import-outside-toplevel
    loader = DataLoader(Lines(dataset), batch_size=16, num_workers=WORKERS, persistent_workers=True)
    total = sum(int(batch.sum()) for batch in loader)
    time.sleep(SECONDS)
    return [0] if total else [1]


mode, fixed = sys.argv[1], "--fixed" in sys.argv[2:]
data = load_numbers() if fixed else load_texts()
sys.exit(max({"process": run_processes, "loader": run_loader}[mode](data)))
