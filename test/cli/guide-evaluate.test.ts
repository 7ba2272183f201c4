// `platform guide evaluate`: records the traces of a running gateway in their order, and replays them without it.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { indexArtifact } from '../../daemon/roles/gateway/guide/guidance/rules.ts'
import { lineageEvents } from '../../daemon/roles/gateway/guide/lineage/model.ts'
import { buildLineage } from '../../daemon/roles/gateway/guide/lineage/rules.ts'
import { ann, setUpChat } from '../roles/gateway/chat-site.ts'
import { runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { buildArtifact } from '../support/guide/artifacts.ts'
import { waitUntil } from '../support/site/test-site.ts'

const stage = setUpChat()

function openFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'traces-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('the observations of a gateway are recorded, oldest first and with its lineage, and replayed offline', async () => {
  const { site } = stage()
  const admin = { ...ann, subject: 'ada', roles: ['admin'] }
  for (const message of ['show the map', 'export the report']) {
    site.clock.advance(1_000)
    await stage().say(ann, { message })
  }
  const artifact = indexArtifact('shim', buildArtifact('PromptShim', { tenant_id: site.tenant }))
  const of = { scope: 'l2', trace_id: '1'.padStart(32, '0'), subject: 'ann', at: site.clock.now() }
  const selection = { attached: [], capped: [], held_out: [artifact], heldByBudget: new Map() }
  for (const { id, value } of buildLineage({ ...of, selection }, 1_000_000_000))
    await site.store('gateway').create(lineageEvents, id, value)
  const env = { PLATFORM_SITE: path.dirname(site.folder.profile), PLATFORM_TOKEN: await site.token(admin) }
  const folder = openFolder()
  let file = ''
  let lines: readonly Record<string, string>[] = []
  let attempt = 0
  await waitUntil(async () => {
    site.clock.advance(1_000)
    attempt += 1
    file = path.join(folder, `${attempt}.jsonl`)
    expect(await runCommand(['guide', 'evaluate', '--record', file], { env })).toMatchObject({ exit: 0 })
    const text = readFileSync(file, 'utf8').trim()
    lines = text.split('\n').map((line) => JSON.parse(line))
    return lines.filter(({ event_type }) => event_type === 'final_response').length === 2
  })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(lines.find(({ kind }) => kind === 'held_out')).toMatchObject({ artifact_id: 'shim' })
  const times = lines.map(({ created_at, at }) => created_at ?? at)
  expect(times).toEqual(times.toSorted())
  expect(await runCommand(['guide', 'evaluate', '--record', file], { env })).toMatchObject({
    ...{ exit: 3, stderr: expect.stringContaining('already exists') },
  })
  // No site, token or network.
  const report = await runJsonCommand(['guide', 'evaluate', file], { env: {} })
  expect(report).toMatchObject({ ended: 'end_of_input', measured_traces: 2, lineage_events: 1, bad_lines: 0 })
  const { exit, stdout } = await runCommand(['guide', 'evaluate', file], { env: {} })
  expect([exit, stdout]).toEqual([0, expect.stringContaining('success rate          2 of 2: 1.000')])
})

test('wrong options and bad lines are refused with their remedy', async () => {
  const file = path.join(openFolder(), 'bad.jsonl')
  writeFileSync(file, '{"event_type":"user_prompt"}\n')
  const evaluate = async (...words: string[]) => {
    const { exit, stderr } = await runCommand(['guide', 'evaluate', ...words], { env: {} })
    return `${exit} ${stderr}`
  }
  expect(await evaluate()).toMatch(/^2 .*a FILE of recorded traces is missing/s)
  expect(await evaluate(file)).toMatch(/^1 .*bad\.jsonl, line 1 is not valid: trace_id: .*--keep-going/s)
  expect(await evaluate(file, '--keep-going')).toMatch(/^0 /)
  expect(await evaluate(file, '--record', file)).toMatch(/^2 .*reads none/s)
  expect(await evaluate(file, '--learn-until', '2026-03-01', '--train-share', '0.5')).toMatch(/^2 .*only one of/s)
})
