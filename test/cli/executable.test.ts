// One command of each group by the packaged executable, beside a site that it serves: arguments, descriptors and exit codes.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commandGroups } from '../../cli/program/command-groups.ts'
import { editProfile } from '../support/site/packaged-federation.ts'
import { createPackagedSite, type PackagedSite, type ServedSite } from '../support/site/packaged-site.ts'

let site: PackagedSite
let daemon: ServedSite

beforeAll(async () => {
  site = createPackagedSite('demo')
  editProfile(site, {
    platform: { roles: ['site', 'consensus', 'resolution', 'intelligence', 'hub', 'gateway', 'proxy'] },
    ...{ intelligence: { port: 0 }, hub: { port: 0 }, gateway: { port: 0 } },
    proxy: { port: 0, workers: 1, trusted_proxy_depth: 1, platform_api_url: 'https://platform.invalid' },
    sso: { token_url: 'https://identity.invalid/token' },
  })
  daemon = await site.serve()
})
afterAll(async () => {
  await daemon?.stop()
  site?.remove()
})

/** Words of a command, the exit code, and what stdout or stderr must show. */
const commands: readonly [words: readonly string[], exit: number, shows: RegExp][] = [
  [['audit', 'verify'], 0, /whole/],
  [['consensus', 'list'], 0, /./],
  [['consensus', 'contributor', 'list'], 0, /alice|nobody|NAME/],
  [['evidence', 'show', 'sess_none'], 1, /error:/],
  [['filedrop', 'status'], 0, /./],
  [['filedrop', 'quarantine', 'list'], 0, /./],
  [['gateway', 'check', 'tool', '--subject', 'ann'], 0, /allowed/],
  [['gateway', 'services'], 0, /no service has registered/],
  [['gateway', 'quotas'], 0, /counted no calls/],
  [['gateway', 'decisions'], 0, /no call that a guardrail refused/],
  [['guide', 'chat', 'list_artifacts()'], 0, /guide_list_artifacts answered/],
  [['guide', 'evaluate', '/dev/null'], 0, /nothing was learnt/],
  [['guide', 'set', 'list'], 0, /no sets/],
  [['hub', 'nodes'], 0, /./],
  [['insight', 'list'], 0, /./],
  [['ingest', 'effect', 'create', 'nowhere.json'], 1, /nowhere/],
  [['ingest', 'connection', 'create', '--type', 'sqlite', '--name', 'x', '--config', 'nowhere.json'], 2, /nowhere/],
  [['keys', 'list'], 0, /message/],
  [['keys', 'ca', 'show'], 1, /keys ca init/],
  [['keys', 'cert', 'show'], 1, /keys cert/],
  [['keys', 'set', 'show'], 1, /keys rotate/],
  [['peers', 'list'], 0, /./],
  [['people', 'list'], 0, /./],
  [['profile', 'validate'], 0, /./],
  [['proxy', 'denials'], 0, /./],
  [['report', 'audit', '--out', 'nowhere/audit.html'], 1, /nowhere/],
  [['resolve', 'runs'], 0, /./],
  [['resolve', 'lens', 'create', 'persons'], 0, /persons/],
  [['resolve', 'entity', 'find', 'east', 'none', '--lens', 'persons'], 1, /not in the registry/],
  [['resolve', 'record', 'forget', 'east', 'none', '--lens', 'none', '--reason', 'request 17', '--yes'], 1, /record/],
  [['resolve', 'registry', 'show'], 0, /./],
  [['resolve', 'exchange', 'list'], 0, /./],
  [['signal', 'list'], 0, /./],
  [['signal', 'bulk', 'list'], 0, /./],
  [['signal', 'silence', 'list'], 0, /./],
  [['signal', 'source', 'list'], 0, /./],
  [['site', 'divide', 'nowhere'], 2, /./],
  [['store', 'status'], 0, /consensus/],
  [['tools', 'list', '--role', 'resolution'], 0, /entity/],
  [['token', 'mint', '--subject', 'ann', '--roles', 'analyst'], 0, /^[\w-]+\.[\w-]+\.[\w-]+\n$/],
]

/** Groups of commands that need no site. */
const withoutSite = ['ingest']

test('each group has a command here', () => {
  const covered = [...commands.map(([words]) => words.join(' ')), ...withoutSite.map((group) => `${group} `)]
  expect(Object.keys(commandGroups).filter((group) => !covered.some((words) => words.startsWith(`${group} `)))).toEqual(
    [],
  )
})

test.each(commands.map(([words, exit, shows]) => ({ typed: words.join(' '), words, exit, shows })))(
  'platform $typed',
  ({ words, exit, shows }) => {
    const ended = site.run(words)
    expect([ended.exit, ended.stderr]).toEqual([exit, exit === 0 ? expect.any(String) : expect.stringMatching(/./)])
    expect(exit === 0 ? ended.stdout : ended.stderr).toMatch(shows)
  },
)

describe('the daemon', () => {
  test('ends in order on SIGTERM, with exit code 0, and its commands are not reachable then', async () => {
    expect(await daemon.stop()).toBe(0)
    expect(site.run(['consensus', 'list'])).toMatchObject({ exit: 4, stdout: '' })
    daemon = await site.serve()
  })
})
