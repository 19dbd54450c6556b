# Threads allocate at the same time: objects that they keep, objects that grow, and objects that another thread frees. Prints how many
# blocks each line keeps, and at least how many bytes.
import json
import threading

import msleaks

THREADS, ROUNDS = 8, 400
kept, grown, passed = [], [], [[] for _ in range(THREADS)]
begin = threading.Barrier(THREADS)


def work(number):
    begin.wait()
    mine, mine_grown = [None] * ROUNDS, []
    for i in range(ROUNDS):
        mine[i] = bytes(3000)  # keeps
        passed[number].append(bytes(2000))  # passes on
        block = bytearray(1000)
        block += bytes(9000)  # grows
        mine_grown.append(block)
        passed[(number + 1) % THREADS][:-3] = []  # frees what another thread has made
    kept.append(mine)
    grown.append(mine_grown)


threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
passed.clear()
msleaks.mark("kept")
print(json.dumps({"keeps": [THREADS * ROUNDS, THREADS * ROUNDS * 3000], "grows": [THREADS * ROUNDS, THREADS * ROUNDS * 10000]}))
