// `platform tools`: lists and calls tools of a role of this site and of a service at a URL, by tokens of its own.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { everyOperation } from '../../daemon/every-role.ts'
import { runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { type SingleClusterSite, startSingleClusterSite } from '../support/site/single-cluster-site.ts'

let site: SingleClusterSite
let env: Readonly<Record<string, string>>
beforeAll(async () => {
  site = await startSingleClusterSite()
  env = { PLATFORM_SITE: path.dirname(site.folder.profile) }
})
afterAll(() => site?.close())

const toolsOf = (role: string) =>
  everyOperation.flatMap((each) => (each.role === role && each.operation.tool ? [each.operation.tool] : []))

function writeInput(value: unknown): string {
  const file = path.join(site.dir, 'input.json')
  writeFileSync(file, JSON.stringify(value))
  return file
}

test('an operator lists the tools of a role, in the newest revision', async () => {
  const { revision, tools } = await runJsonCommand(['tools', 'list', '--role', 'consensus'], { env })
  expect(revision).toBe('2026-07-28')
  expect(tools.map(({ name }: { name: string }) => name)).toEqual(toolsOf('consensus'))
  const { exit, stdout } = await runCommand(['tools', 'list', '--role', 'consensus'], { env })
  expect(exit).toBe(0)
  expect(stdout).toMatch(/^NAME +EFFECT +DESCRIPTION\n/)
  expect(stdout).toMatch(/^consensus_session_list +reads +/m)
})

test('a token sees the tools that it may call, at a URL, and no others', async () => {
  const input = await site.token({ roles: ['auditor'] })
  const url = `http://127.0.0.1:${site.port('consensus')}`
  const { tools } = await runJsonCommand(['tools', 'list', '--url', url, '--token-file', '-'], { input })
  const names = tools.map(({ name }: { name: string }) => name)
  expect(names).toContain('consensus_session_list')
  expect(names).not.toContain('consensus_session_create')
})

test('a call gives the result of the operation, and its refusal as a failure of the tool', async () => {
  const input = writeInput({ lens_id: 'l', lens_version: '1', policy: { m: 1, n: 1 }, classification: 'UNCLASSIFIED' })
  const words = ['tools', 'call', 'consensus_session_create', '--role', 'consensus', '--input', input]
  const created = await runJsonCommand(words, { env })
  expect(created).toMatchObject({ is_error: false, structured_content: { state: 'PROPOSED', lens_id: 'l' } })
  const absent = [
    'tools',
    'call',
    'consensus_session_get',
    '--role',
    'consensus',
    '--input',
    writeInput({ id: 'none' }),
  ]
  const { exit, stdout, stderr } = await runCommand(absent, { env })
  expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' })
  expect(stderr).toMatch(/^error: .*there is no such session\n/)
  const asJson = await runCommand([...absent, '--json'], { env })
  expect([asJson.exit, JSON.parse(asJson.stdout)]).toMatchObject([1, { is_error: true }])
})

test.each<[string, string[], number, RegExp]>([
  ['no service', ['list'], 2, /exactly one of --role and --url/],
  [
    'two services',
    ['list', '--role', 'consensus', '--url', 'http://127.0.0.1:1'],
    2,
    /exactly one of --role and --url/,
  ],
  ['an unknown role', ['list', '--role', 'nonsense'], 2, /the roles are .*consensus/],
  ['an unknown tool', ['call', 'nothing', '--role', 'consensus'], 2, /Unknown tool: nothing/],
  ['a role without tools', ['list', '--role', 'site'], 1, /offers no tools at this path\n.*mcp_enabled/],
  ['a service that is down', ['list', '--url', 'http://127.0.0.1:1'], 4, /cannot be reached/],
])('%s is a clear failure', async (_, words, exit, text) => {
  const ended = await runCommand(['tools', ...words], { env })
  expect(ended).toMatchObject({ exit, stdout: '' })
  expect(ended.stderr).toMatch(text)
})

test('a token that the service does not accept is refused as such', async () => {
  const url = `http://127.0.0.1:${site.port('consensus')}`
  const { exit, stderr } = await runCommand(['tools', 'list', '--url', url], { env: { PLATFORM_TOKEN: 'x' } })
  expect({ exit, stderr }).toMatchObject({ exit: 3 })
  expect(stderr).toContain('does not accept the token')
})
