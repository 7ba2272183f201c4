// A process that writes documents from many callers at once and reports its requests and acknowledgements on standard output.
import { writeSync } from 'node:fs'
import type { Store } from '../../daemon/kernel/store/store.ts'
import { buildEvent, buildNote, notes } from '../conformance/store-requirement.ts'
import { openSqliteStore } from '../conformance/store-variants.ts'

/** This file, to be run as `node group-commit-probe.ts FOLDER CALLERS ROUNDS`. */
export const groupCommitProbe = import.meta.filename

if (import.meta.main) {
  const [folder, callers, rounds] = process.argv.slice(2)
  if (!folder || !callers || !rounds) throw new Error('usage: group-commit-probe.ts FOLDER CALLERS ROUNDS')
  const { store } = openSqliteStore(folder)
  await Promise.all(Array.from({ length: Number(callers) }, (_, caller) => writeAll(store, caller, Number(rounds))))
  await store.close()
}

/** Each round asks when the one before is acknowledged, as a client of a service does. */
async function writeAll(store: Store, caller: number, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const id = `${caller}.${round}`
    // Written at once and unbuffered: its place among the system calls is what the test looks at.
    writeSync(1, `ask ${id}\n`)
    await store.create(notes, id, buildNote({ count: round, title: 'x'.repeat(500) }), [buildEvent({ target: id })])
    writeSync(1, `ack ${id}\n`)
  }
}
