// What is no plain file of its own, under every name that it could have: never opened, never followed, put away as it is.
import { execFileSync, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { requires, whenPresent } from '../../support/requires.ts'
import { drop, type Forged, forge } from './forged.ts'
import { incomingOf, quarantineOf, startReceiving, twoSites, type World } from './two-sites.ts'

let world: World
let sound: Forged
let listening: Server | undefined
beforeEach(async () => {
  world = await twoSites()
  await startReceiving(world.bravo)
  sound = await forge(world)
  fs.writeFileSync(secret(), 'secret', { mode: 0o644 })
})
afterEach(async () => {
  listening?.close()
  listening = undefined
  await world.dispose()
})

const fresh = () => incomingOf(world.bravo, 'alpha').fresh
const secret = () => join(world.dir, 'secret')

const isNodeMade = spawnSync('sh', ['-c', 'd=$(mktemp -d) && mknod $d/n c 1 3; s=$?; rm -r $d; exit $s']).status === 0
const withDevices = whenPresent({ isPresent: isNodeMade, name: 'mknod', hint: 'devices can be made by root alone' })

type Kind = readonly [what: string, make: (path: string) => unknown, tests?: typeof test]

const kinds: readonly Kind[] = [
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
        listening = createServer().listen(join(world.dir, 's'), () => {
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
      drop(world, sound)
      const path = join(fresh(), `${sound.stem}.${part}.json`)
      fs.rmSync(path)
      await make(path)
      const before = kindOf(path)
      await world.bravo.transport.rescan()
      expect(quarantineOf(world.bravo, 'alpha').map(({ reason }) => reason)).toEqual(['NOT_REGULAR'])
      isAway(before)
      drop(world, sound)
      await world.bravo.transport.rescan()
      expect(world.bravo.received).toHaveLength(1)
    })

    tests('under another name', async () => {
      const path = join(fresh(), 'a name')
      await make(path)
      const before = kindOf(path)
      await world.bravo.transport.rescan()
      expect(quarantineOf(world.bravo, 'alpha').map(({ reason }) => reason)).toEqual(['NAME'])
      isAway(before)
    })
  })
}

/** File type and mode. */
function kindOf(path: string): number {
  return fs.lstatSync(path).mode
}

/** It lies in quarantine as what it was; what it leads to is as it was. */
function isAway(mode: number): void {
  const { quarantine } = incomingOf(world.bravo, 'alpha')
  const modes = fs.readdirSync(quarantine).map((name) => fs.lstatSync(join(quarantine, name)).mode)
  expect(modes).toContain(mode)
  expect([fs.readFileSync(secret(), 'utf8'), fs.statSync(secret()).mode & 0o777]).toEqual(['secret', 0o644])
  expect(fs.readdirSync(fresh())).toEqual([])
  expect(world.bravo.events.filter(({ event }) => event.endsWith('failed'))).toEqual([])
}

describe('a second name for', () => {
  test.each<[string, () => string]>([
    ['a secret', () => secret()],
    ['a key of the site', () => join(world.bravo.root, '..', 'keys', fs.readdirSync(keys())[0] ?? '')],
    ['its journal', () => join(world.bravo.root, '..', 'site.db')],
  ])('%s is never read, nor its mode changed', async (_, target) => {
    const before = fs.statSync(target()).mode
    drop(world, sound)
    const path = join(fresh(), `${sound.stem}.body.json`)
    fs.rmSync(path)
    fs.linkSync(target(), path)
    await world.bravo.transport.rescan()
    expect(quarantineOf(world.bravo, 'alpha').map(({ reason }) => reason)).toEqual(['HARDLINK'])
    expect(fs.statSync(target()).mode).toBe(before)
    expect(world.bravo.received).toEqual([])
  })
})

function keys(): string {
  return join(world.bravo.root, '..', 'keys')
}
