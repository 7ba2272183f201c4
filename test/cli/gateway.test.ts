// `platform status` and `platform gateway` beside a gateway that counts, refuses and holds.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CommandOptions, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { type LibraryService, startLibraryService } from '../support/mcp/library-service.ts'
import { createTestSite, type TestSite, waitUntil } from '../support/site/test-site.ts'

const rules = [
  { name: 'talk', kinds: ['chat'], calls_per_day: 2 },
  { name: 'code-words', kinds: ['chat'], deny_patterns: ['(?i)project x'] },
]
/** A subject of an identity provider may have any characters. */
const forger = 'ann\u001b[2J\nbob  chat  9'

let site: TestSite
let service: LibraryService
let options: CommandOptions
beforeAll(async () => {
  site = await createTestSite({
    profile: {
      platform: { roles: ['site', 'gateway'], deployment_profile: 'single_cluster' },
      ...{ gateway: { port: 0 }, guardrails: { rules } },
    },
  })
  await site.start()
  service = await startLibraryService('2026-07-28')
  service.serviceInfo = { name: 'maps', mcp_path: '/mcp', tools_count: 4 }
  const token = await site.token({ subject: 'pat', roles: ['admin'] })
  options = { env: { PLATFORM_SITE: path.dirname(site.folder.profile), PLATFORM_TOKEN: token } }
  const body = { name: 'maps', url: service.url.origin, ttl_seconds: 86_400, component_kind: 'library' }
  expect((await site.call('gateway', 'POST', '/api/v1/register', body, { token })).status).toBe(200)
  await run('gateway', 'accept', 'maps', '--authentication', 'none', '--yes')
})
afterAll(async () => {
  await site?.end()
  await service?.close()
  expect(site?.loggedErrors ?? []).toEqual([])
})

async function run(...words: string[]): Promise<string> {
  const { exit, stdout, stderr } = await runCommand(words, options)
  expect(exit, stderr).toBe(0)
  return stdout
}
const say = async (subject: string, message: string) => {
  const token = await site.token({ subject, roles: ['analyst'] })
  return (await site.call('gateway', 'POST', '/api/v1/chat', { message }, { token })).status
}
const waitForRows = (count: number) =>
  waitUntil(async () => {
    site.wakeWorker('gateway', 'keep-usage')
    return (await runJsonCommand(['gateway', 'quotas'], options)).total === count
  })

test('hints on the workflow of a file name the task or the edge, and end with exit code 0', async () => {
  const write = (name: string, value: object) => {
    const file = path.join(path.dirname(site.folder.profile), name)
    writeFileSync(file, JSON.stringify(value))
    return file
  }
  const read = { name: 'read', operator: 'ingest_file', params: { file: 'a.parquet' } }
  const out = { name: 'out', operator: 'write', params: { file: 'o.csv' }, after: ['read'] }
  const done = { name: 'done', operator: 'notify', params: { title: 'In' }, after: ['read', 'out'] }
  const dag = write('dag.json', { format: 1, dag_id: 'orders', tasks: [read, out, done] })
  const shown = await run('gateway', 'hints', dag)
  expect(shown).toMatch(/missing best practice +out +no task validates/)
  expect(shown).toMatch(/modeling issue +read > done +done follows read through out/)
  const effect = write('effect.json', {
    name: 'orders',
    operators: [{ name: 'ingest_file', params: { file: 'a.csv' } }],
  })
  expect(await run('gateway', 'hints', effect)).toBe('there are no hints on this workflow\n')
  const { hints } = await runJsonCommand(['gateway', 'hints', effect, '--schedule', '*/15 * * * *'], options)
  expect(hints).toMatchObject([{ rule: 'time_limit_beyond_schedule', node: 'ingest_file_1' }])
  const other = await runCommand(['gateway', 'hints', write('other.json', { name: 'orders' })], options)
  expect([other.exit, other.stderr]).toEqual([1, expect.stringContaining('is not a workflow')])
})

test('a site whose gateway has done nothing says so', async () => {
  expect(await run('gateway', 'quotas')).toBe('the gateway has counted no calls within a day\n')
  expect(await run('gateway', 'decisions')).toBe('the audit log has no call that a guardrail refused\n')
  expect(await run('status')).toMatch(/gateway callers by tool: 0 \(platform gateway quotas\)/)
})

test('a review says what all tools of the service may request of clients, and an acceptance changes it', async () => {
  expect(await run('gateway', 'review', 'maps')).toMatch(
    /^Calls of maps carry no token; .* request nothing of clients$/m,
  )
  const words = ['gateway', 'accept', 'maps', '--tools', 'echo', '--yes', '--input']
  expect(await run(...words, 'elicitation,sampling')).toContain('request elicitation and sampling of clients')
  expect(await run('gateway', 'review', 'maps')).toContain('request elicitation and sampling of clients')
  expect(await run(...words, 'none')).toContain('request nothing of clients')
})

test('a service is shown with its accepted tools, the state of its list, and its breaker', async () => {
  const shown = await run('gateway', 'show', 'maps')
  expect(shown).toMatch(/^accepted +4, of which 4 are offered\nlist +read\nbreaker +closed$/m)
})

test('quotas and decisions show callers, what they have left, and what was refused, on a line each', async () => {
  expect([await say('ann', 'hello'), await say('ann', 'project x'), await say(forger, 'hello')]).toEqual([
    200, 403, 200,
  ])
  expect([await say(forger, 'hello'), await say(forger, 'hello')]).toEqual([200, 429])
  await waitForRows(2)
  const quotas = await run('gateway', 'quotas')
  expect(quotas).toMatch(/^ann +chat +chat +1 +1 +1 +talk 1 of 2 a day$/m)
  expect(quotas).toMatch(/^ann\\u001b\[2J\\nbob {2}chat {2}9 +chat +chat +2 +1 +0 +talk 2 of 2 a day$/m)
  expect(await run('gateway', 'quotas', '--subject', 'ann')).not.toContain('bob')
  const decisions = await run('gateway', 'decisions')
  expect(decisions).toMatch(/code-words +pattern +chat +ann +chat$/m)
  expect(decisions.split('\n')).toHaveLength(4)
  expect(await run('gateway', 'decisions', '--subject', 'ann')).not.toContain('talk')
  const page = await runJsonCommand(['gateway', 'decisions', '--limit', '1'], options)
  expect([page.items.length, page.total, page.next_cursor]).toEqual([1, 2, expect.any(String)])
})

test('the status shows services, tools, the quotas that leave least, and the last denials', async () => {
  await service.define('echo', { description: 'Another one' })
  await waitUntil(async () => (await run('gateway', 'tools')).includes('held'))
  const status = await run('status')
  for (const line of [
    /^gateway services: 1: 1 live \(platform gateway services\)$/m,
    /^gateway tools: 4: 3 offered, 1 held \(platform gateway tools\)$/m,
    /^gateway callers by tool: 2 \(platform gateway quotas\)$/m,
    /^gateway denials: 2 \(platform gateway decisions\)$/m,
    /^ {2}ann\\u001b.* +talk +2 +2 +0 +86400 /m,
    /^ {2}20\S+ +code-words +pattern +chat +ann +chat$/m,
  ])
    expect(status).toMatch(line)
  const { gateway } = await runJsonCommand(['status'], options)
  expect(gateway).toMatchObject({
    tools: { states: { offered: 3, held: 1 } },
    quotas: { least: [{ left: 0 }, { left: 1 }] },
  })
})

test('a caller that may not read a part sees why in its place, and the status is that of the roles', async () => {
  const token = await site.token({ subject: 'op', roles: ['operator'] })
  const { exit, stdout } = await runCommand(['status'], { env: { ...options.env, PLATFORM_TOKEN: token } })
  expect(exit).toBe(0)
  expect(stdout).toMatch(/^gateway callers by tool: .*gateway:admin.* \(platform gateway quotas\)$/m)
  expect(stdout).toMatch(/^gateway services: 1: 1 live/m)
})
