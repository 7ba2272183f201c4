// Two sites and a carrier made of copied files: sent messages verify offline, refusals give their reason.
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand, serveSite } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('filedrop')
const at = (name: string) => path.join(dir, name)
const ready = at('alpha/filedrop/bravo/out/ready')
const stops: (() => Promise<unknown>)[] = []
let envelope: string

const waitOptions = { timeout: 60_000 }

beforeAll(async () => {
  for (const name of ['alpha', 'bravo']) {
    await runJsonCommand(['init', '--site', at(name), '--profile', 'demo'])
    await runCommand(['keys', 'export', '--site', at(name), '--out', at(`${name}.json`)])
  }
  for (const [own, other] of [
    ['alpha', 'bravo'],
    ['bravo', 'alpha'],
  ] as const) {
    const file = at(`${other}.json`)
    const { keys } = JSON.parse(readFileSync(file, 'utf8'))
    const named = keys.flatMap((key: Record<string, string>) =>
      key.platform_use === 'token' ? [] : [key.platform_fingerprint],
    )
    const words = [
      'peers',
      'add',
      other,
      '--site',
      at(own),
      '--keys',
      file,
      '--tenant',
      other,
      '--ceiling',
      'RESTRICTED',
    ]
    await runJsonCommand([...words, '--fingerprint', named.join(',')])
    stops.push((await serveSite(at(own))).stop)
  }
  await runJsonCommand(send('--releasable-to', 'alpha,bravo'), { input: '{"hello":"bravo"}' })
  envelope = await vi.waitFor(() => {
    const name = readdirSync(ready).find((file) => file.endsWith('.env.json'))
    if (!name) throw new Error('nothing is ready yet')
    return path.join(ready, name)
  }, waitOptions)
})
afterAll(async () => {
  for (const stop of stops) await stop()
  remove()
})

function send(...more: string[]): string[] {
  return [
    'filedrop',
    'send',
    'bravo',
    '--site',
    at('alpha'),
    '--kind',
    'contribution',
    '--schema',
    'consensus.contribution/1',
    ...more,
  ]
}

/** Body first, envelope last, as every carrier does. */
function carry(): void {
  for (const name of readdirSync(ready).sort()) {
    copyFileSync(path.join(ready, name), at(`bravo/filedrop/alpha/in/new/${name}`))
  }
}

test('status shows both directions of the channel', async () => {
  const { items } = await runJsonCommand(['filedrop', 'status', '--site', at('alpha')])
  expect(items.map((channel: { direction: string; state: string }) => [channel.direction, channel.state])).toEqual([
    ['out', 'open'],
    ['in', 'open'],
  ])
})

test('refuses to send a message that is not releasable to the peer, or above its ceiling', async () => {
  expect((await runCommand(send(), { input: '{}' })).exit).toBe(3)
  const above = send('--releasable-to', 'alpha,bravo', '--classification', 'SECRET')
  expect((await runCommand(above, { input: '{}' })).exit).toBe(3)
})

test('a body other than a JSON object is a usage error', async () => {
  for (const input of ['', 'nonsense', '[1]']) {
    expect((await runCommand(send('--releasable-to', 'alpha,bravo'), { input })).exit).toBe(2)
  }
})

test('a message verifies with the sender’s public keys and nothing else, and not with another’s', async () => {
  expect(await runJsonCommand(['filedrop', 'verify', envelope, '--keys', at('alpha.json')])).toMatchObject({
    ok: true,
    statement: { src: 'alpha', dst: 'bravo', kind: 'contribution' },
  })
  expect((await runJsonCommand(['filedrop', 'verify', envelope, '--site', at('bravo')])).ok).toBe(true)
  const foreign = await runCommand(['filedrop', 'verify', envelope, '--keys', at('bravo.json')])
  expect([foreign.exit, foreign.stdout.includes('UNKNOWN_KEY')]).toEqual([5, true])
})

test('a changed body is found, and inspect shows it without believing it', async () => {
  const name = path.basename(envelope)
  const body = name.replace('.env.', '.body.')
  copyFileSync(envelope, at(name))
  writeFileSync(at(body), readFileSync(path.join(ready, body), 'utf8').replace('bravo', 'bravO'))
  const ended = await runCommand(['filedrop', 'verify', at(name), '--keys', at('alpha.json')])
  expect([ended.exit, ended.stdout.includes('BODY_DIGEST')]).toEqual([5, true])
  const seen = await runJsonCommand(['filedrop', 'inspect', at(name)])
  expect(seen.unverified.body.data ?? seen.unverified.body).toEqual({ hello: 'bravO' })
})

test('a refused message lies in quarantine with its reason, and the doctor mentions it', async () => {
  carry()
  const list = ['filedrop', 'quarantine', 'list', '--site', at('bravo'), '--json']
  await expect.poll(async () => JSON.parse((await runCommand(list)).stdout).items, waitOptions).toHaveLength(1)
  const [{ id }] = JSON.parse((await runCommand(list)).stdout).items
  const item = await runJsonCommand(['filedrop', 'quarantine', 'show', id, '--site', at('bravo')])
  expect(item).toMatchObject({ id, peer: 'alpha', reason: 'REFUSED', says: { unverified: expect.any(Object) } })
  const doctor = await runCommand(['doctor', '--site', at('bravo')])
  expect([doctor.exit, doctor.stdout.includes('1 item in quarantine')]).toEqual([0, true])
})

test('what cannot be released is dismissed by one person, and nothing is left to warn of', async () => {
  const at_bravo = ['--site', at('bravo')]
  const list = async () => (await runJsonCommand(['filedrop', 'quarantine', 'list', ...at_bravo])).items
  const [{ id }] = await list()
  const shown = await runCommand(['filedrop', 'quarantine', 'show', id, ...at_bravo])
  expect(shown.stdout).toContain(`platform filedrop quarantine dismiss ${id} --reason TEXT`)
  expect(shown.stdout).toMatch(/passed.*name, kind, size, json, signature.*schema/)
  expect(shown.stdout).toMatch(/failed.*the operation of its kind/)
  const unreasoned = await runCommand(['filedrop', 'quarantine', 'dismiss', id, '--yes', ...at_bravo])
  expect([unreasoned.exit, unreasoned.stderr.includes('--reason')]).toEqual([2, true])
  const dismiss = ['filedrop', 'quarantine', 'dismiss', id, '--reason', 'it was a test', '--yes', ...at_bravo]
  expect((await runCommand(dismiss)).stdout).toContain(`dismissed ${id}`)
  expect(await list()).toEqual([])
  const { items } = await runJsonCommand(['filedrop', 'status', ...at_bravo])
  expect(items.map(({ quarantined }: { quarantined: number }) => quarantined)).toEqual([0, 0])
  expect((await runCommand(['doctor', ...at_bravo])).stdout).not.toContain('quarantine')
  expect((await runCommand(dismiss)).exit).toBe(1)
})

test('a name that would leave quarantine finds nothing', async () => {
  for (const id of ['alpha/../../keys/x', '../alpha/x', 'alpha/.', 'alpha']) {
    expect((await runCommand(['filedrop', 'quarantine', 'show', id, '--site', at('bravo')])).exit).toBe(1)
  }
})
