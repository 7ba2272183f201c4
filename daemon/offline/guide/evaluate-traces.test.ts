// Recorded traces are replayed in bounded memory: what was learnt before, what it has changed, and which lines are wrong.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runAgent } from '../../../test/support/guide/synthetic-agent.ts'
import { seededRandom } from '../../../test/support/random/seeded-random.ts'
import { type EvaluationRequest, evaluateTraces } from './evaluate-traces.ts'

const begin_ms = Date.parse('2026-03-01T00:00:00Z')
const trace_ms = 20_000
const traces = 500
const changed_at = 400
const at = (trace: number) => new Date(begin_ms + trace * trace_ms).toISOString()
const nameTrace = (trace: number) => (trace + 1).toString(16).padStart(32, '0')

let folder: string
let recorded: string
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'traces-'))
  recorded = write('recorded.jsonl', recordAgent())
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Its tools take whatever it does from the 400th trace on. Two artifacts of its site were held out from every second trace. */
function recordAgent(): string[] {
  const random = seededRandom(3)
  return Array.from({ length: traces }, (_, trace) => {
    const options = { random, trace_id: nameTrace(trace), now: begin_ms + trace * trace_ms, guidance: [] }
    const events = runAgent({ ...options, isFaultless: trace >= changed_at })
    const hasFailed = events.some(({ event_type }) => event_type === 'tool_error')
    const lineage = [
      lineageLine('planted', trace, hasFailed ? 'attached' : 'held_out'),
      lineageLine('neutral', trace, trace % 2 === 0 ? 'attached' : 'held_out'),
    ]
    const change = trace === changed_at ? [{ change_at: at(trace), tool: 'models/publish' }] : []
    return [...change, ...events, ...lineage].map((line) => JSON.stringify(line))
  }).flat()
}

function lineageLine(artifact_id: string, trace: number, kind: string) {
  const fields = { artifact_type: 'PromptShim', artifact_version: 1, scope: 'l2', at: at(trace) }
  return { kind, trace_id: nameTrace(trace), artifact_id, ...fields }
}

function write(name: string, lines: readonly string[]): string {
  const file = path.join(folder, name)
  writeFileSync(file, lines.join('\n'))
  return file
}

const evaluate = (request: Partial<EvaluationRequest>) =>
  evaluateTraces({ files: [recorded], keepsGoing: false, findEnd: () => undefined, ...request }, () => undefined)
const replayFolders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('platform-replay-'))

test('traces after the split are measured by what was learnt before it, with effects from lineage and the delay of a change', async () => {
  const before = replayFolders()
  const report = await evaluate({ train_share: 0.5 })
  expect(report).toMatchObject({ ended: 'end_of_input', bad_lines: 0, lineage_events: 2 * traces })
  expect(report.measured_traces).toBeGreaterThan(0.4 * traces)
  expect(report.measured_traces).toBeLessThan(0.6 * traces)
  const findings = report.learnt.filter(({ type }) => type === 'FailurePattern' || type === 'ToolPairingHint')
  expect(findings).toHaveLength(3)
  for (const { learnt_at } of findings) expect(learnt_at < String(report.learn_until)).toBe(true)
  expect(report.hit_rate.failures.rate).toBeGreaterThan(0.8)
  // By construction: each trace that failed had it.
  expect(report.harm.map(({ artifact_id }) => artifact_id)).toEqual(['planted'])
  const neutral = report.effects.find(({ artifact_id }) => artifact_id === 'neutral')
  expect(neutral?.bounds.low).toBeLessThan(0)
  expect(neutral?.bounds.high).toBeGreaterThan(0)
  expect(report.uplift).toMatchObject({ isMeasurable: true })
  const [delay] = report.drift.delays
  expect(delay?.found?.rule).toBe('window_divergence')
  expect(delay?.found?.delay_events).toBeLessThan(400)
  expect(report.warnings).toEqual({})
  expect(replayFolders()).toEqual(before)
})

test('without a split, nothing is foreseen before it was learnt; the same input gives the same report', async () => {
  const evaluateBeginning = () => {
    let runs = 0
    return evaluate({ findEnd: () => (++runs > 150 ? 'interrupted' : undefined) })
  }
  const first = await evaluateBeginning()
  expect(first.learning_curve[0]?.foreseen).toBe(0)
  expect(first.learning_curve.at(-1)?.foreseen).toBeGreaterThan(0)
  expect(await evaluateBeginning()).toEqual(first)
})

test('a replay ends when it is to end, and reports what it has read', async () => {
  let runs = 0
  const report = await evaluate({ findEnd: () => (++runs > 20 ? 'time_limit' : undefined) })
  expect(report.ended).toBe('time_limit')
  expect(report.measured_traces).toBeGreaterThan(5)
  expect(report.measured_traces).toBeLessThan(100)
})

const [sound = ''] = [
  JSON.stringify({
    ...{ event_type: 'user_prompt', trace_id: nameTrace(1), service: 'gateway', timestamp: at(1) },
    payload: { prompt: 'hello' },
  }),
]

test.each([
  ['{', 'is not a JSON object'],
  ['[]', 'is not a JSON object'],
  [sound.replace('user_prompt', 'other'), 'is not valid: event_type: '],
  [sound.replace(nameTrace(1), 'short'), 'is not valid: trace_id: must be a trace id'],
  [sound.replace(at(1), '2026-02-30T00:00:00Z'), 'is not valid: timestamp: '],
  [JSON.stringify({ ...lineageLine('a', 1, 'attached'), kind: 'other' }), 'is not valid: kind: '],
  [JSON.stringify({ change_at: 'soon' }), 'is not valid: change_at: '],
  [JSON.stringify({ payload: 'x'.repeat(300_000) }), 'has more than 262144 bytes'],
])('a line such as %.20s is named with its number, or left out and counted', async (line, fault) => {
  const file = write('bad.jsonl', [sound, line, ''])
  const place = `${file}, line 2 ${fault}`
  await expect(evaluate({ files: [file] })).rejects.toThrow(place)
  const report = await evaluate({ files: [file], keepsGoing: true })
  expect([report.bad_lines, report.observations]).toEqual([1, 1])
  expect(report.first_bad_line).toContain(place)
})

test('lines that are far out of order are refused; files follow one another', async () => {
  const many = Array.from({ length: 4_001 }, (_, trace) =>
    sound.replace(nameTrace(1), nameTrace(trace)).replace(at(1), at(trace / 1_000)),
  )
  const backwards = write('backwards.jsonl', many.toReversed())
  await expect(evaluate({ files: [backwards] })).rejects.toThrow('line 4001 is older than lines before it')
  const first = write('first.jsonl', many.slice(0, 20))
  const second = write('second.jsonl', many.slice(20, 40))
  expect((await evaluate({ files: [first, second] })).observations).toBe(40)
})

test('a file that is missing, a level that is unknown, and an input without observations', async () => {
  await expect(evaluate({ files: [path.join(folder, 'none')] })).rejects.toThrow(
    'none cannot be read: it does not exist',
  )
  const secret = write('level.jsonl', [sound.replace('{', '{"level":"COSMIC",')])
  await expect(evaluate({ files: [secret] })).rejects.toThrow('the level "COSMIC", which is not one of UNCLASSIFIED')
  expect((await evaluate({ files: [secret], levels: ['PUBLIC', 'COSMIC'] })).observations).toBe(1)
  const report = await evaluate({ files: [write('empty.jsonl', [])] })
  expect(report).toMatchObject({ observations: 0, measured_traces: 0, success_rate: { rate: null } })
})
