// The judge of histories sees faults: in a history that ended well, one thing is changed.
import { expect, test, vi } from 'vitest'
import type { History } from './history.ts'

vi.mock('node:fs', async (original) => (await import('./simulated-file-system.ts')).createSimulatedFs(await original()))
vi.mock('node:fs/promises', async (original) =>
  (await import('./simulated-file-system.ts')).createSimulatedPromises(await original()),
)

const { createKeyRing } = await import('./history.ts')
const { findHistoryFaults } = await import('./judge.ts')
const { SimulatedFile } = await import('./inode.ts')

/** One in which messages were applied, and one was quarantined. */
const seed = 10

function readApplied({ bravo }: History): string {
  const [msg_id] = bravo.effects
  if (!msg_id) throw new Error('nothing was applied in this history')
  return msg_id
}

const runSql = (history: History, text: string) => void history.bravo.file.db.exec(text)

test.each<[string, (history: History) => void, RegExp]>([
  ['an effect that was lost', (h) => void h.bravo.effects.delete(readApplied(h)), /is applied without an effect/],
  ['an effect of nothing that was sent', (h) => void h.bravo.effects.add('msg_none'), /was applied and never sent/],
  ['one more delivery', (h) => void h.bravo.deliveries.set(readApplied(h), 999), /was handed over 999 times/],
  ['an arrival forgotten', (h) => runSql(h, 'DELETE FROM journal_ledger'), /is missing without a reason/],
  ['an end undone', (h) => runSql(h, "UPDATE journal_ledger SET state = 'received'"), /has had its effect/],
  ['a file left', (h) => void newFolder(h).entries.set(leftoverFile, new SimulatedFile()), /is left over/],
  ['a record taken out', (h) => runSql(h, 'DELETE FROM audit WHERE seq = 2'), /the audit chain of bravo is broken/],
])('%s', async (_, tamper, says) => {
  expect((await findHistoryFaults(seed, await createKeyRing(), tamper)).join('\n')).toMatch(says)
})

const leftoverFile = '00000001-0000000000000099.body.json'
const newFolder = ({ bravo }: History) => bravo.machine.folder('filedrop/alpha/in/new')
