// Channels as people see them: one line each way, a wait until a backlog is gone, and a progress bar on a terminal.
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand, serveSite } from '../support/command/run-command.ts'
import { repositoryRoot } from '../support/repository/source-tree.ts'
import { requires } from '../support/runner/requires.ts'

const { dir, remove } = createScratchFolder('channels')
const at = (name: string) => path.join(dir, name)
const ready = at('alpha/filedrop/bravo/out/ready')
const status = ['filedrop', 'status', '--site', at('alpha')]
const waitOptions = { timeout: 60_000 }
let stop: () => Promise<unknown>

const pinPeer = async (name: string, ...more: string[]) => {
  const file = at('bravo.json')
  const { keys } = JSON.parse(readFileSync(file, 'utf8'))
  const own = keys.filter((key: Record<string, string>) => key.platform_use !== 'token')
  const named = own.map((key: Record<string, string>) => key.platform_fingerprint).join(',')
  const words = ['peers', 'add', name, '--site', at('alpha'), '--keys', file, '--tenant', 'bravo']
  return await runCommand([...words, '--ceiling', 'RESTRICTED', '--fingerprint', named, ...more])
}

beforeAll(async () => {
  for (const name of ['alpha', 'bravo']) await runJsonCommand(['init', '--site', at(name), '--profile', 'demo'])
  await runCommand(['keys', 'export', '--site', at('bravo'), '--out', at('bravo.json')])
  expect((await pinPeer('bravo')).exit).toBe(0)
  stop = (await serveSite(at('alpha'))).stop
})
afterAll(async () => {
  await stop?.()
  remove()
})

async function sendMessages(count: number): Promise<void> {
  const words = ['filedrop', 'send', 'bravo', '--site', at('alpha'), '--kind', 'signal', '--schema', 'signal/1']
  const before = readdirSync(ready).length
  for (let sent = 0; sent < count; sent++) {
    await runJsonCommand([...words, '--releasable-to', 'alpha,bravo'], { input: '{}' })
  }
  await vi.waitFor(() => expect(readdirSync(ready).length).toBe(before + 2 * count), waitOptions)
}

/** A carrier takes what lies there. */
function takeReadyFiles(): void {
  for (const name of readdirSync(ready)) rmSync(path.join(ready, name))
}

test('a line each way, within 120 columns, and the whole of it as JSON', async () => {
  await sendMessages(2)
  const { stdout } = await runCommand(status)
  const [heading = '', ...lines] = stdout.trimEnd().split('\n')
  expect(heading).toMatch(/^PEER .* BACKLOG .* PER MIN$/)
  expect(lines.map((line) => line.split(/ +/).slice(0, 3))).toEqual([
    ['bravo', 'out', 'open'],
    ['bravo', 'in', 'open'],
  ])
  for (const line of [heading, ...lines]) expect(line.length).toBeLessThanOrEqual(120)
  const { items } = await runJsonCommand([...status, '--peer', 'bravo'])
  expect(items[0]).toMatchObject({ backlog: 2, next_seq: 3, oldest_waiting_s: expect.any(Number) })
  expect((await runJsonCommand([...status, '--peer', 'nobody'])).items).toEqual([])
})

test('--watch waits until a carrier has taken all', async () => {
  const watching = runCommand([...status, '--watch', '--json'])
  const early = await Promise.race([watching, runJsonCommand(status)])
  expect(early).toHaveProperty('items')
  takeReadyFiles()
  const { exit, stdout, stderr } = await watching
  expect([exit, stderr]).toEqual([0, ''])
  expect(JSON.parse(stdout).items[0]).toMatchObject({ backlog: 0, next_seq: 3 })
})

requires('script')('on a terminal a bar fills meanwhile', async () => {
  await sendMessages(2)
  const program = `${path.join(repositoryRoot, 'node_modules/.bin/node')} ${path.join(repositoryRoot, 'cli/main.ts')}`
  const { PATH = '', HOME = '' } = process.env
  const child = spawn('script', ['-qec', `${program} ${status.join(' ')} --watch`, '/dev/null'], {
    env: { PATH, HOME, TERM: 'xterm', NO_COLOR: '1' },
  })
  let screen = ''
  child.stdout.on('data', (part: Buffer) => (screen += part.toString()))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  await vi.waitFor(() => expect(screen).toContain('[........................] 2 of 2 left'), waitOptions)
  takeReadyFiles()
  expect(await ended).toBe(0)
  expect(screen.indexOf('PEER')).toBeGreaterThan(screen.indexOf('2 of 2 left'))
})

test('--watch fails when the channel stops, with the reason', async () => {
  await sendMessages(1)
  const file = at('alpha/filedrop/bravo/CHANNEL.json')
  const text = readFileSync(file, 'utf8')
  rmSync(file)
  const { exit, stderr } = await runCommand([...status, '--watch'])
  writeFileSync(file, text, { mode: 0o600 })
  expect([exit, stderr.includes('bravo out cannot drain; it is stopped: CHANNEL.json is missing')]).toEqual([1, true])
})

test('a label map is pinned with its peer and shown, and one that leads nowhere is refused', async () => {
  const map = at('map.json')
  const labels = { NATION: { levels: { GEHEIM: 'RESTRICTED' }, categories: { KERN: 'NUC' } } }
  writeFileSync(map, JSON.stringify({ NATION: { ...labels.NATION, levels: { GEHEIM: 'COSMIC' } } }))
  const strange = await pinPeer('charlie', '--label-map', map)
  expect([strange.exit, strange.stderr]).toEqual([2, expect.stringContaining('maps to COSMIC')])
  writeFileSync(map, '{"NATION":{"level":{}}}')
  expect((await pinPeer('charlie', '--label-map', map)).exit).toBe(2)
  writeFileSync(map, 'no map')
  expect((await pinPeer('charlie', '--label-map', map)).stderr).toContain('not JSON')
  expect((await pinPeer('charlie', '--label-map', at('none.json'))).exit).toBe(1)
  writeFileSync(map, JSON.stringify(labels))
  expect((await pinPeer('charlie', '--label-map', map)).exit).toBe(0)
  expect((await runJsonCommand(['peers', 'show', 'charlie', '--site', at('alpha')])).label_map).toEqual(labels)
  const { stdout } = await runCommand(['peers', 'show', 'charlie', '--site', at('alpha')])
  expect(stdout).toMatch(/^NATION +level +GEHEIM +RESTRICTED$/m)
  expect(stdout).toMatch(/^NATION +category +KERN +NUC$/m)
})
