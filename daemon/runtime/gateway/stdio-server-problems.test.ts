// Profiles whose tool servers a site does not start with.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createTestSite, type TestSite } from '../../../test/support/site/test-site.ts'

let world: TestSite
afterEach(() => world.end())

/** Of a site with this server, in this deployment profile. */
async function findProblem(name: string, fields: (site: TestSite) => object): Promise<string> {
  world = await createTestSite({ profile: { platform: { roles: ['site', 'gateway'] }, gateway: { port: 0 } } })
  const server = { command: ['/bin/cat'], ...fields(world) }
  const profile = fs.readFileSync(world.folder.profile, 'utf8')
  const changed = profile.replace(/^gateway:\n/m, `gateway:\n  stdio_servers: { ${name}: ${JSON.stringify(server)} }\n`)
  fs.writeFileSync(world.folder.profile, changed)
  return await world.start().then(() => 'started', String)
}

test.each<[string, string, (site: TestSite) => object, RegExp]>([
  ['the name of a role', 'gateway', () => ({}), /gateway\.stdio_servers\.gateway: is the name of another service/],
  ['the name of a service', 'intelligence-service', () => ({}), /is the name of another service or role/],
  [
    'the folder of keys',
    'maps',
    ({ folder }) => ({ visible: [folder.keys] }),
    /visible\.0: would show the server files/,
  ],
  [
    'what holds the folder of the site',
    'maps',
    ({ folder }) => ({ visible: ['/usr', path.dirname(path.dirname(folder.profile))] }),
    /visible\.1: would show the server files of the site/,
  ],
  [
    'a file of the site as program',
    'maps',
    ({ folder }) => ({ command: [`${folder.data}/tool`] }),
    /command\.0: would show the server files/,
  ],
  [
    'a secret that is absent',
    'maps',
    () => ({ secret_env: { A: '/nowhere/key' } }),
    /secret_env\.A: \/nowhere\/key cannot be read/,
  ],
  ['no absolute path', 'maps', () => ({ command: ['cat'] }), /must be an absolute path/],
  ['a sound server', 'maps', () => ({ visible: ['/usr/share'] }), /^started$/],
])('%s', async (_, name, fields, expected) => {
  expect(await findProblem(name, fields)).toMatch(expected)
})
