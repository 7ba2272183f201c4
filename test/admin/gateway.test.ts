// The terminal screen over a gateway: services, their tools, quotas of callers, and calls that guardrails refused.
import { afterAll, beforeAll, expect } from 'vitest'
import { findExecutable, runExecutable } from '../support/command/run-executable.ts'
import { type LibraryService, startLibraryService } from '../support/mcp/library-service.ts'
import { requires } from '../support/runner/requires.ts'
import { editProfile } from '../support/site/packaged-federation.ts'
import { createPackagedSite, type PackagedSite, type ServedSite } from '../support/site/packaged-site.ts'
import { openTmuxScreen } from './tmux-screen.ts'

let site: PackagedSite
let served: ServedSite
let service: LibraryService
beforeAll(async () => {
  site = createPackagedSite('demo')
  editProfile(site, {
    platform: { roles: ['site', 'gateway'], deployment_profile: 'single_cluster' },
    gateway: { port: 0, registrants: { maps: 'svc-maps' } },
    guardrails: {
      rules: [
        { name: 'talk', kinds: ['chat'], calls_per_day: 5 },
        { name: 'code-words', kinds: ['chat'], deny_patterns: ['(?i)project x'] },
      ],
    },
  })
  served = await site.serve()
  service = await startLibraryService('2026-07-28')
  service.serviceInfo = { name: 'maps', mcp_path: '/mcp', tools_count: 4 }
  const body = { name: 'maps', url: service.url.origin, ttl_seconds: 86_400, component_kind: 'library' }
  const registered = await post('/api/v1/register', 'svc-maps', 'service', body)
  expect([registered.status, await registered.text()]).toEqual([200, expect.any(String)])
  // The service answers from this process.
  const words = ['gateway', 'accept', 'maps', '--authentication', 'none', '--yes', '--site', site.dir]
  const accepted = await runExecutable(words, { cwd: site.dir })
  expect([accepted.exit, accepted.stderr]).toEqual([0, ''])
})
afterAll(async () => {
  await served?.stop()
  site?.remove()
  await service?.close()
})

function post(at: string, subject: string, role: string, body: object): Promise<Response> {
  const { stdout } = site.run(['token', 'mint', '--subject', subject, '--roles', role])
  const headers = { authorization: `Bearer ${stdout.trim()}`, 'content-type': 'application/json' }
  return fetch(`http://127.0.0.1:${served.ports.gateway}${at}`, { method: 'POST', headers, body: JSON.stringify(body) })
}
const say = async (subject: string, message: string) =>
  (await post('/api/v1/chat', subject, 'analyst', { message })).status

requires('tmux')('shows services, tools that are held, quotas and decisions as they change, in 80 by 24', async () => {
  const screen = openTmuxScreen({ PLATFORM: findExecutable(), PLATFORM_SITE: site.dir, NO_COLOR: '1' })
  try {
    screen.type('"$PLATFORM" admin; echo "ended:$?"')
    const first = await screen.waitFor(/maps +live +4\/4 +read +closed/)
    expect(first).toMatch(/SERVICES \(1\) {2}platform gateway services/)
    expect(first).toMatch(/TOOLS \(1-2 of 4\) {2}platform gateway tools/)
    expect(first).toMatch(/no call that a guardrail refused/)
    expect(first).not.toMatch(/SESSIONS/)
    for (const colour of ['31', '32', '33', '90']) expect(screen.styledText()).not.toContain(`\u001b[${colour}m`)
    await service.define('count', { description: 'Another one' })
    await screen.waitFor(/maps +live +3\/4 +read/)
    await screen.waitFor(/maps__count +held/)
    expect([await say('ann', 'hello'), await say('ann', 'about Project X')]).toEqual([200, 403])
    await screen.waitFor(/ann +chat +1 +1 +4/)
    await screen.waitFor(/20\S+ \S+ +code-words +pattern +ann +chat/)
    screen.press('Enter')
    const detail = await screen.waitFor(/^command +platform gateway decisions --subject ann$/m)
    expect(detail).toMatch(/^guardrail +code-words$/m)
    screen.press('Escape')
    await screen.waitFor(/GUARDRAIL +REASON/)
    screen.press('BTab', 'Enter')
    expect(await screen.waitFor(/^quota +talk: 1 of 5 calls in 86400 s, 4 left until 20/m)).toMatch(/^refused +1$/m)
    screen.press('Escape')
    await screen.waitFor(/GUARDRAIL +REASON/)
    screen.press('BTab', 'Home', 'Enter')
    expect(await screen.waitFor(/^state +held$/m)).toMatch(/^command +platform gateway review maps$/m)
    screen.press('q')
    await screen.waitFor(/ended:0$/m)
    const { stdout } = site.run(['status'])
    expect(stdout).toMatch(/^gateway tools: 4: 1 held, 3 offered \(platform gateway tools\)$/m)
    expect(stdout).toMatch(/^ {2}ann +talk +1 +5 +4 +86400 /m)
  } finally {
    screen.close()
  }
})
