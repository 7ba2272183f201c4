// What the store refuses for good goes to the file of dead letters, which is bounded and readable by its owner alone.
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ingestBatch } from '../../../../daemon/roles/gateway/guide/observation/ingest-batch.ts'
import { observations } from '../../../../daemon/roles/gateway/guide/observation/model.ts'
import { deadLetterFile } from '../../../../daemon/runtime/gateway/dead-letter-file.ts'
import { buildTurns, killAt, openGuideStore, startGuide } from './graph-world.ts'

function openFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'letters-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('lines are appended whole, up to the bound', async () => {
  const file = path.join(openFolder(), 'letters.jsonl')
  const letters = deadLetterFile(file, 20)
  expect(await Promise.all([letters.append(['one', 'two']), letters.append(['three'])])).toEqual([true, true])
  expect(await letters.append(['a line that is too long'])).toBe(false)
  expect(readFileSync(file, 'utf8')).toBe('one\ntwo\nthree\n')
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('a batch that fails each time is in the file, and the next one is stored', async () => {
  const file = path.join(openFolder(), 'letters.jsonl')
  const store = openGuideStore()
  const dead = startGuide(killAt(store, 0, false).store)
  const [first, second] = [buildTurns(1), buildTurns(1, 2)]
  const entriesOf = (pending: typeof first) =>
    pending.map((observation) => ({
      entry: { kind: 'observation' as const, observation },
      ...{ service: observation.service, bytes: 1, now: 0 },
    }))
  Object.assign(dead.observer, { deadLetters: deadLetterFile(file) })
  await ingestBatch(dead.call, entriesOf(first))
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  expect(lines).toEqual(first.map((each) => JSON.stringify(each)))
  expect(dead.observer.stored.failed).toBe(first.length)
  await ingestBatch(startGuide(store).call, entriesOf(second))
  expect(await store.count(observations)).toBe(second.length)
})
