// Lets schemathesis derive requests, right ones and wrong ones, from each served document, and hold the answers to it.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import net, { type AddressInfo } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect } from 'vitest'
import { roleSocketFile } from '../../daemon/boot/storage/site-folder.ts'
import { everyRole } from '../../daemon/every-role.ts'
import { listPaths, pathParameters } from '../../daemon/kernel/operation/operation.ts'
import { operationsOf } from '../../daemon/kernel/role/built-in-operations.ts'
import { createOperationFixture, type OperationFixture } from '../support/every-operation/operation-fixture.ts'
import { whenPresent } from '../support/runner/requires.ts'

const binary = process.env.SCHEMATHESIS ?? ''
const present = whenPresent({
  isPresent: binary !== '',
  name: 'schemathesis',
  hint: 'name the program in SCHEMATHESIS (.ci/run installs it)',
})

let world: OperationFixture
beforeAll(async () => {
  if (binary) world = await createOperationFixture()
})
const bridges: net.Server[] = []
afterAll(async () => {
  for (const bridge of bridges) bridge.close()
  await world?.site.close()
})

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
    const served = await site.request(role, { method: 'GET', path: '/openapi.json', token: admin })
    writeFileSync(document, served.text)
    // A stream is read until the time limit: by itself, its ids made up, there are few to wait for.
    writeFileSync(path.join(site.dir, 'schemathesis.toml'), configureAliases(role))
    const runs = [
      streams.flatMap((address) => ['--exclude-operation-id', address]),
      ...ending.map((address) => ['--include-operation-id', address, '--phases', 'fuzzing']),
    ]
    const port = role === 'proxy' ? await bridgeToSocket(roleSocketFile(site.folder, role)) : site.port(role)
    for (const which of runs) {
      const url = `http://127.0.0.1:${port}`
      const { failed, output } = await runSchemathesis([document, '--url', url, ...which], site.dir, admin)
      expect(failed, output).toBe(false)
    }
    expect(site.logged.filter((line) => line.includes('"level":"error"'))).toEqual([])
  },
  300_000,
)

/**
 * Of an operation that several paths serve, the boundary values go to its own path. They follow from the schemas alone,
 * which are the same for all its paths; each path has examples of its own.
 */
function configureAliases(role: string): string {
  const aliases = everyRole
    .filter(({ name }) => name === role)
    .flatMap(operationsOf)
    .flatMap(({ operation }) =>
      listPaths(operation)
        .slice(1)
        .map((alias) => `"${operation.method} ${alias}"`),
    )
  return aliases.length > 0 ? `[[operations]]\ninclude-name = [${aliases}]\nphases.coverage.enabled = false\n` : ''
}

/** Strangers alone come to the proxy's port: its operations are on its local socket, which the tool cannot reach. */
async function bridgeToSocket(socket: string): Promise<number> {
  const bridge = net.createServer((stranger) => {
    const local = net.connect(socket)
    for (const [one, other] of [
      [stranger, local],
      [local, stranger],
    ] as const) {
      one.pipe(other)
      one.on('error', () => other.destroy())
    }
  })
  bridge.listen(0, '127.0.0.1')
  bridges.push(bridge)
  await once(bridge, 'listening')
  return (bridge.address() as AddressInfo).port
}

/**
 * Not checked: that all input that fits the schema is accepted. A cursor is opaque, levels are those of the profile, and an
 * ETag must be the current one; no schema says so.
 */
const unsuitableCheck = 'positive_data_acceptance'

async function runSchemathesis(more: readonly string[], cwd: string, token: string) {
  const options = ['run', ...more, '--header', `Authorization: Bearer ${token}`, '--exclude-checks', unsuitableCheck]
  const bounds = [
    '--seed',
    '20260101',
    '--max-examples',
    process.env.SCHEMATHESIS_EXAMPLES ?? '3',
    '--request-timeout',
    '10',
    '--workers',
    '1',
  ]
  try {
    const { stdout } = await promisify(execFile)(binary, [...options, ...bounds], { cwd, maxBuffer: 2 ** 26 })
    return { failed: false, output: stdout }
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    return { failed: true, output: `${stdout}\n${stderr}` }
  }
}
