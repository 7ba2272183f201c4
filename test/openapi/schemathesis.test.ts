// Lets schemathesis derive requests, right ones and wrong ones, from each served document, and hold the answers to it.
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect } from 'vitest'
import { everyRole } from '../../daemon/every-role.ts'
import { operationsOf } from '../../daemon/kernel/builtin.ts'
import { pathParameters } from '../../daemon/kernel/operation.ts'
import { type Stage, stage } from '../support/every-operation/stage.ts'
import { whenPresent } from '../support/requires.ts'

const binary = process.env.SCHEMATHESIS ?? ''
const present = whenPresent({
  isPresent: binary !== '',
  name: 'schemathesis',
  hint: 'name the program in SCHEMATHESIS (.ci/run installs it)',
})

let world: Stage
beforeAll(async () => {
  if (binary) world = await stage()
})
afterAll(() => world?.site.close())

const kinds = everyRole.map((role) => {
  const streams = operationsOf(role).filter(({ operation }) => operation.streams)
  // One that needs no id never ends: what its document says is held by test/every-operation.test.ts alone.
  const ending = streams.filter(({ operation }) => pathParameters(operation.path).length > 0)
  return [role.name, streams.map(({ address }) => address), ending.map(({ address }) => address)] as const
})

present.each(kinds)(
  'the document of %s is the whole truth about its answers',
  async (role, streams, ending) => {
    const { site, admin } = world
    const document = path.join(site.dir, `${role}.json`)
    const served = await site.ask(role, { method: 'GET', path: '/openapi.json', token: admin })
    writeFileSync(document, served.text)
    // A stream is read until the time limit: by itself, its ids made up, there are few to wait for.
    const runs = [
      streams.flatMap((address) => ['--exclude-operation-id', address]),
      ...ending.map((address) => ['--include-operation-id', address, '--phases', 'fuzzing']),
    ]
    for (const which of runs) {
      const url = `http://127.0.0.1:${site.port(role)}`
      const { failed, output } = await schemathesis([document, '--url', url, ...which], site.dir, admin)
      expect(failed, output).toBe(false)
    }
    expect(site.logged.filter((line) => line.includes('"level":"error"'))).toEqual([])
  },
  300_000,
)

/**
 * Not checked: that whatever fits the schema is accepted. A cursor is opaque, levels are those of the profile, and an
 * ETag must be the current one; no schema says so.
 */
const unfit = 'positive_data_acceptance'

async function schemathesis(given: readonly string[], cwd: string, token: string) {
  const options = ['run', ...given, '--header', `Authorization: Bearer ${token}`, '--exclude-checks', unfit]
  const bounds = ['--seed', '20260101', '--max-examples', '8', '--request-timeout', '10', '--workers', '1']
  try {
    const { stdout } = await promisify(execFile)(binary, [...options, ...bounds], { cwd, maxBuffer: 2 ** 26 })
    return { failed: false, output: stdout }
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    return { failed: true, output: `${stdout}\n${stderr}` }
  }
}
