// In a network without a route, no start, role or command dials an address outside of the machine, or looks a name up.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commandCatalogue } from '../../../cli/program/command-catalogue.ts'
import { everyRole } from '../../../daemon/every-role.ts'
import { findExecutable } from '../../support/command/run-executable.ts'
import { type EnclosedRun, enclosureTools, runEnclosed } from '../../support/network/enclosure.ts'
import { findEgress } from '../../support/network/parse-dials.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { editProfile } from '../../support/site/packaged-federation.ts'
import { createPackagedSite } from '../../support/site/packaged-site.ts'

/** Commands that dial what their arguments name, serve the site, or start sites of their own (their tests enclose them). */
const apart = /^(ingest migrate|serve|demo.*)$/

const roles = everyRole.map(({ name }) => name)

/** Nobody listens there. */
const upstream = 'http://127.0.0.1:9'

const site = createPackagedSite('demo')
const dir = path.dirname(site.dir)
let run: EnclosedRun | undefined
beforeAll(async () => {
  editProfile(site, {
    platform: { roles },
    ...Object.fromEntries(roles.map((role) => [role, { port: 0 }])),
    edge: { port: 0, http_port: 0 },
    proxy: {
      ...{ port: 0, workers: 1, trusted_proxy_depth: 1 },
      ...{ platform_api_url: upstream, trusted_networks: ['127.0.0.0/8'] },
    },
    sso: { token_url: `${upstream}/token` },
  })
  if (!enclosureTools.isPresent) return
  const script = path.join(dir, 'operate.sh')
  writeFileSync(script, await writeScript())
  const env = { PATH: '/usr/bin:/bin', HOME: dir, PLATFORM_SITE: site.dir }
  run = await runEnclosed('/bin/bash', ['--norc', script], { cwd: dir, env })
})
afterAll(() => site.remove())

/** A day of a site: examined, started with every role, each command by its example, stopped. */
async function writeScript(): Promise<string> {
  const platform = findExecutable()
  const definitions = await Promise.all(Object.values(commandCatalogue).map((load) => load()))
  const examples = definitions
    .filter(({ definition }) => !apart.test(definition.words))
    .map(({ definition }) => definition.example.replace(/^platform/, `timeout 5 ${platform}`))
  return [
    `${platform} doctor`,
    `${platform} serve > serve.log 2>&1 & daemon=$!`,
    `until ${platform} status; do kill -0 $daemon || { cat serve.log >&2; exit 1; }; sleep 0.2; done`,
    // Four at once: some wait for their time limit, since they follow what does not come.
    `xargs -d '\\n' -P 4 -n 1 sh -c 'eval "$0" < /dev/null' << 'END'`,
    ...examples,
    'END',
    'kill $daemon; wait $daemon',
  ].join('\n')
}

const enclosed = whenPresent(enclosureTools)

describe('a site with every role, and every command', () => {
  enclosed('starts, and stops well', () => expect(run, run?.stderr).toMatchObject({ exit: 0 }))

  enclosed('is traced: roles are reached at their sockets', () => {
    const sockets = run?.dials.filter(({ host }) => host.startsWith(path.join(site.dir, 'run'))) ?? []
    expect(sockets.length).toBeGreaterThan(roles.length - 2)
  })

  enclosed('dials nothing outside, and resolves no name', () => expect(findEgress(run?.dials ?? [])).toEqual([]))
})
test('every command is here, or dials by its purpose', () => {
  expect(Object.keys(commandCatalogue).filter((words) => apart.test(words)).length).toBeLessThan(7)
})
