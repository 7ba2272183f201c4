// `platform guide` beside a gateway with artifacts, proposals, observations and graphs: each command, and its refusals.
import path from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { fetchAdminSnapshot } from '../../cli/admin/admin-snapshot.ts'
import { connectServiceClient } from '../../cli/client/connection.ts'
import { promoteArtifact } from '../../daemon/roles/gateway/guide/artifact/change-artifacts.ts'
import { proposalId } from '../../daemon/roles/gateway/guide/proposal/model.ts'
import { admin, buildEnvelope, curator, setUpGuide } from '../roles/gateway/guide-site.ts'
import { type CommandOptions, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { waitUntil } from '../support/site/test-site.ts'

const stage = setUpGuide()
let options: CommandOptions
beforeAll(async () => {
  const { site } = stage()
  const token = await site.token({ ...admin, lifetime_s: 86_400 })
  options = { env: { PLATFORM_SITE: path.dirname(site.folder.profile), PLATFORM_TOKEN: token } }
})

const guide = async (...words: string[]) => {
  const { exit, stdout, stderr } = await runCommand(['guide', ...words], options)
  expect(exit, `${words.join(' ')}: ${stderr}`).toBe(0)
  return stdout
}
const guideJson = (...words: string[]) => runJsonCommand(['guide', ...words], options)
const propose = async (isActive = true, changes = {}) => {
  const id = await stage().propose(changes)
  if (isActive) await promoteArtifact(stage().call, id, curator)
  return id
}
const reason = ['--reason', 'checked by hand']

test('artifacts are listed by their fields and shown with their versions', async () => {
  const id = await propose()
  await propose(false, { type: 'PromptShim', content: { body: 'be brief' }, service_name: undefined })
  expect(await guide('artifacts')).toMatch(/^ID +TYPE +STATUS +VERSION +SCORE +CONFIDENCE +SERVICE/)
  const { items, total } = await guideJson('artifacts', '--status', 'active', '--service', 'maps')
  expect([items, total]).toEqual([[expect.objectContaining({ id, type: 'ToolPairingHint' })], 1])
  expect((await guideJson('artifacts', '--limit', '1')).next_cursor).toEqual(expect.any(String))
  expect((await guideJson('artifacts', '--all')).items).toHaveLength(2)
  const shown = await guide('show', id)
  expect(shown).toMatch(/^hint +Call maps\/find before maps\/show/m)
  expect(shown).toMatch(/^attached +0, held back by a cap 0$/m)
  expect(shown).toMatch(/^VERSION +STATUS .*\n1 +proposed /m)
  expect((await guideJson('show', id, '--as-of', '1')).status).toBe('proposed')
})

test('a change needs a reason, which its audit record has', async () => {
  const id = await propose()
  const refused = await runCommand(['guide', 'demote', id], options)
  expect([refused.exit, refused.stderr]).toEqual([2, expect.stringContaining('add --reason "..."')])
  expect(await guide('demote', id, ...reason, '--note', 'for ada')).toMatch(/^status +demoted$/m)
  expect(await guide('promote', id, ...reason)).toMatch(/^status +active$/m)
  const edited = await guideJson('edit', id, '--tags', 'a,b', '--any-intent', '--notes', 'seen', ...reason)
  expect(edited).toMatchObject({ applicability: { tags: ['a', 'b'] }, notes: 'seen', version: 5 })
  expect((await guideJson('rollback', id, '--to', '1', ...reason)).status).toBe('proposed')
  expect((await guideJson('forget', id, ...reason)).status).toBe('forgotten')
  const late = await runCommand(['guide', 'promote', id, '--if-version', '2', ...reason], options)
  expect([late.exit, late.stdout]).toEqual([3, ''])
  const { items } = await guideJson('audit', '--artifact', id, '--actor', 'admin:ada')
  expect(items.map(({ action }: { action: string }) => action)).toEqual([
    ...['forget', 'rollback', 'edit', 'promote', 'demote'],
  ])
  expect(items.at(-1)).toMatchObject({ rationale: 'checked by hand', admin_note: 'for ada' })
  expect(await guide('audit', '--action', 'forget')).toContain('checked by hand')
  expect((await guideJson('decisions', '--artifact', id, '--trigger', 'admin_manual')).total).toBe(5)
  expect(await guide('explain', '--artifact', id)).toContain(`checked by hand Version ${id}.5 became ${id}.6.`)
  expect((await runCommand(['guide', 'explain'], options)).exit).toBe(2)
})

test('a promotion supersedes what it names', async () => {
  const [old, id] = [await propose(), await propose()]
  expect(await guide('promote', id, '--supersede', old, ...reason)).toMatch(new RegExp(`^supersedes +${old}$`, 'm'))
  await waitUntil(async () => (await guideJson('show', old)).status === 'demoted')
})

test('proposals that await a decision are accepted or dismissed', async () => {
  const [kept, dropped] = [await propose(false, { isHeld: true }), await propose(false, { isHeld: true })]
  const held = await guide('proposals', '--status', 'held')
  expect([held.includes(proposalId(kept)), held.includes(proposalId(dropped))]).toEqual([true, true])
  expect(await guide('accept', proposalId(kept), ...reason)).toBe(`${kept} is active\n`)
  expect(await guide('dismiss', proposalId(dropped), ...reason)).toBe(`${dropped} is forgotten\n`)
  expect((await runCommand(['guide', 'accept', proposalId(dropped), ...reason], options)).exit).toBe(3)
})

test('the curator is paused and resumed, and the statistics say so', async () => {
  expect(await guide('pause', ...reason)).toBe('the curator is paused\n')
  expect(await guide('stats')).toMatch(/^curator +paused$/m)
  expect(await guide('resume', ...reason)).toBe('the curator changes artifacts again\n')
  const stats = await guide('stats')
  expect(stats).toMatch(/^curator +running$/m)
  expect(stats).toMatch(/^artifacts +.*active \d/m)
  expect(await guide('learn')).toMatch(/^requested; traces in memory: \d+\n$/)
})

test('observations and graphs are listed, shown, and graphs restored from a snapshot', async () => {
  await stage().post(admin, { observations: [buildEnvelope(1), buildEnvelope(2)] })
  await stage().waitForStored(2)
  const { items } = await guideJson('memories', '--event', 'tool_output', '--service', 'maps')
  expect(items).toHaveLength(2)
  expect(await guide('memory', items[0].memory_id)).toMatch(/^service +maps$/m)
  expect(await guide('graphs')).toMatch(/^outcome_graph +[1-9]/m)
  expect(await guide('graph', 'outcome_graph')).toMatch(/maps\/list +success +/)
  const [{ snapshot_id }] = (await guideJson('snapshot', 'outcome_graph')).snapshots
  expect(await guide('snapshots', 'outcome_graph')).toContain(snapshot_id)
  expect(await guide('graph', 'outcome_graph', '--snapshot', snapshot_id)).toContain(`snapshot ${snapshot_id} of`)
  const restored = await guide('rollback-graph', 'outcome_graph', '--to', snapshot_id, ...reason)
  expect(restored).toMatch(new RegExp(`^outcome_graph is restored from ${snapshot_id}; before: snapshot_`))
})

test('a preview shows what a scope gets', async () => {
  await propose(true, { type: 'PromptShim', content: { body: 'be brief' }, service_name: undefined })
  const seen = await waitUntil(async () => {
    stage().site.clock.advance(1_000)
    const shown = await guide('preview', '--scope', 'l1')
    return shown.includes('be brief') && shown
  })
  expect(seen).toMatch(/^PromptShim: 1 \(artifact_/m)
  expect(await guide('preview', '--scope', 'l3:tides')).toBe('nothing is attached for l3:tides\n')
})

test('the screen of administrators has the curator, held proposals, scopes and active artifacts, and no more than its bound', async () => {
  const held = await propose(false, { isHeld: true })
  for (let at = 0; at < 101; at += 1) await propose()
  await guide('pause', ...reason)
  const { site } = stage()
  const token = await site.token({ ...admin, lifetime_s: 86_400 })
  const source = {
    ...{ siteName: 'test', roles: [{ name: 'gateway', url: site.url('gateway') }] },
    connect: async () => connectServiceClient({ folder: undefined, url: new URL(site.url('gateway')), token, env: {} }),
  }
  const { items = [], total, fault } = (await fetchAdminSnapshot(source, undefined)).guidance ?? {}
  const kinds = Map.groupBy(items, ({ kind }) => kind)
  expect([fault, items[0]]).toEqual([undefined, expect.objectContaining({ kind: 'curator', state: 'paused' })])
  expect(kinds.get('held')).toContainEqual(expect.objectContaining({ artifact_id: held, state: 'held' }))
  const active = kinds.get('artifact') ?? []
  expect([active.length, active[0]]).toEqual([
    100,
    expect.objectContaining({ attached: 0, without: 0, confidence: 0.5 }),
  ])
  expect(total?.total).toBeGreaterThan(items.length)
})
