// What is no plain file of its own, under every name that it could have: never opened, never followed, put away as it is.
import { execFileSync, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { requires, whenPresent } from '../../support/runner/requires.ts'
import {
  createFiledropSites,
  type FiledropSites,
  listChannelFolders,
  listQuarantineReasons,
  startReceiving,
} from './filedrop-sites.ts'
import { dropMessage, type ForgedMessage, forgeMessage } from './forge-message.ts'

let world: FiledropSites
let soundMessage: ForgedMessage
let socketServer: Server | undefined
beforeEach(async () => {
  world = await createFiledropSites()
  await startReceiving(world.bravo)
  soundMessage = await forgeMessage(world)
  fs.writeFileSync(secret(), 'secret', { mode: 0o644 })
})
afterEach(async () => {
  socketServer?.close()
  socketServer = undefined
  await world.dispose()
})

const formatFreshPath = () => listChannelFolders(world.bravo, 'alpha').fresh
const secret = () => join(world.dir, 'secret')

const isNodeMade = spawnSync('sh', ['-c', 'd=$(mktemp -d) && mknod $d/n c 1 3; s=$?; rm -r $d; exit $s']).status === 0
const withDevices = whenPresent({ isPresent: isNodeMade, name: 'mknod', hint: 'devices can be made by root alone' })

type HostileKind = readonly [what: string, make: (path: string) => unknown, tests?: typeof test]

const kinds: readonly HostileKind[] = [
  ['a link to a secret', (path) => fs.symlinkSync(secret(), path)],
  ['a link to nowhere', (path) => fs.symlinkSync('nowhere', path)],
  ['a link to itself', (path) => fs.symlinkSync(path, path)],
  ['a link to a folder', (path) => fs.symlinkSync(world.dir, path)],
  ['a link to a device', (path) => fs.symlinkSync('/dev/zero', path)],
  ['a folder that is not empty', (path) => fs.mkdirSync(join(path, 'more', 'of', 'it'), { recursive: true })],
  ['a pipe', (path) => execFileSync('mkfifo', [path]), requires('mkfifo')],
  [
    'a socket',
    (path) =>
      new Promise<void>((resolve) => {
        socketServer = createServer().listen(join(world.dir, 's'), () => {
          fs.renameSync(join(world.dir, 's'), path)
          resolve()
        })
      }),
  ],
  ['a device that never ends', (path) => execFileSync('mknod', [path, 'c', '1', '5']), withDevices],
  ['a terminal', (path) => execFileSync('mknod', [path, 'c', '5', '0']), withDevices],
  ['a disk', (path) => execFileSync('mknod', [path, 'b', '7', '0']), withDevices],
]

for (const [what, make, tests = test] of kinds) {
  describe(what, () => {
    tests.each(['env', 'body'] as const)('in place of the %s', async (part) => {
      dropMessage(world, soundMessage)
      const path = join(formatFreshPath(), `${soundMessage.stem}.${part}.json`)
      fs.rmSync(path)
      await make(path)
      const before = readFileType(path)
      await world.bravo.transport.rescan()
      expect(listQuarantineReasons(world.bravo, 'alpha').map(({ reason }) => reason)).toEqual(['NOT_REGULAR'])
      expectQuarantined(before)
      dropMessage(world, soundMessage)
      await world.bravo.transport.rescan()
      expect(world.bravo.received).toHaveLength(1)
    })

    tests('under another name', async () => {
      const path = join(formatFreshPath(), 'a name')
      await make(path)
      const before = readFileType(path)
      await world.bravo.transport.rescan()
      expect(listQuarantineReasons(world.bravo, 'alpha').map(({ reason }) => reason)).toEqual(['NAME'])
      expectQuarantined(before)
    })
  })
}

/** File type and mode. */
function readFileType(path: string): number {
  return fs.lstatSync(path).mode
}

/** It lies in quarantine as what it was; what it leads to is as it was. */
function expectQuarantined(mode: number): void {
  const { quarantine } = listChannelFolders(world.bravo, 'alpha')
  const modes = fs.readdirSync(quarantine).map((name) => fs.lstatSync(join(quarantine, name)).mode)
  expect(modes).toContain(mode)
  expect([fs.readFileSync(secret(), 'utf8'), fs.statSync(secret()).mode & 0o777]).toEqual(['secret', 0o644])
  expect(fs.readdirSync(formatFreshPath())).toEqual([])
  expect(world.bravo.events.filter(({ event }) => event.endsWith('failed'))).toEqual([])
}

describe('a second name for', () => {
  test.each<[string, () => string]>([
    ['a secret', () => secret()],
    ['a key of the site', () => join(world.bravo.root, '..', 'keys', fs.readdirSync(readKeys())[0] ?? '')],
    ['its journal', () => join(world.bravo.root, '..', 'site.db')],
  ])('%s is never read, nor its mode changed', async (_, target) => {
    const before = fs.statSync(target()).mode
    dropMessage(world, soundMessage)
    const path = join(formatFreshPath(), `${soundMessage.stem}.body.json`)
    fs.rmSync(path)
    fs.linkSync(target(), path)
    await world.bravo.transport.rescan()
    expect(listQuarantineReasons(world.bravo, 'alpha').map(({ reason }) => reason)).toEqual(['HARDLINK'])
    expect(fs.statSync(target()).mode).toBe(before)
    expect(world.bravo.received).toEqual([])
  })
})

function readKeys(): string {
  return join(world.bravo.root, '..', 'keys')
}
