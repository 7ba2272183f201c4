// Entries other than plain files of their own, under every possible name: never opened, never followed, quarantined as they are.
import { execFileSync, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import {
  type FiledropSites,
  listChannelFolders,
  listQuarantineReasons,
} from '../../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../../support/filedrop/filedrop-test.ts'
import { dropMessage, type ForgedMessage, forgeMessage } from '../../../support/filedrop/forge-message.ts'
import { findTools, type ToolRequirement, whenPresent } from '../../../support/runner/requires.ts'

const test = filedropTest.extend({ options: { receiving: ['bravo'] } }).extend<{ soundMessage: ForgedMessage }>({
  soundMessage: async ({ sites }, use) => use(await forgeMessage(sites)),
})
test.beforeEach(async ({ sites }) => {
  fs.writeFileSync(secret(sites), 'secret', { mode: 0o644 })
  // The scan of the start is over then: it would see a file before the test replaces it.
  await sites.bravo.transport.rescan()
})

const formatFreshPath = (sites: FiledropSites) => listChannelFolders(sites.bravo, 'alpha').fresh
const secret = (sites: Pick<FiledropSites, 'dir'>) => join(sites.dir, 'secret')

const isNodeMade = spawnSync('sh', ['-c', 'd=$(mktemp -d) && mknod $d/n c 1 3; s=$?; rm -r $d; exit $s']).status === 0
const deviceRequirement = { isPresent: isNodeMade, name: 'mknod', hint: 'only root can make devices' }

type HostileKind = readonly [
  name: string,
  make: (path: string, sites: FiledropSites) => unknown,
  requirement?: ToolRequirement,
]

const kinds: readonly HostileKind[] = [
  ['a link to a secret', (path, sites) => fs.symlinkSync(secret(sites), path)],
  ['a link to nowhere', (path) => fs.symlinkSync('nowhere', path)],
  ['a link to itself', (path) => fs.symlinkSync(path, path)],
  ['a link to a folder', (path, sites) => fs.symlinkSync(sites.dir, path)],
  ['a link to a device', (path) => fs.symlinkSync('/dev/zero', path)],
  ['a folder that is not empty', (path) => fs.mkdirSync(join(path, 'more', 'of', 'it'), { recursive: true })],
  ['a pipe', (path) => execFileSync('mkfifo', [path]), findTools('mkfifo')],
  [
    'a socket',
    (path, sites) =>
      new Promise<void>((resolve) => {
        const server = createServer().listen(join(sites.dir, 's'), () => {
          fs.renameSync(join(sites.dir, 's'), path)
          resolve()
        })
        onTestFinished(() => void server.close())
      }),
  ],
  ['a device that never ends', (path) => execFileSync('mknod', [path, 'c', '1', '5']), deviceRequirement],
  ['a terminal', (path) => execFileSync('mknod', [path, 'c', '5', '0']), deviceRequirement],
  ['a disk', (path) => execFileSync('mknod', [path, 'b', '7', '0']), deviceRequirement],
]

for (const [name, make, requirement] of kinds) {
  const tests = requirement ? whenPresent(requirement, test) : test
  describe(name, () => {
    tests.for(['env', 'body'] as const)('in place of the %s', async (part, { sites, soundMessage }) => {
      dropMessage(sites, soundMessage)
      const path = join(formatFreshPath(sites), `${soundMessage.stem}.${part}.json`)
      fs.rmSync(path)
      await make(path, sites)
      const before = readFileType(path)
      await sites.bravo.transport.rescan()
      expect(listQuarantineReasons(sites.bravo, 'alpha').map(({ reason }) => reason)).toEqual(['NOT_REGULAR'])
      expectQuarantined(sites, before)
      dropMessage(sites, soundMessage)
      await sites.bravo.transport.rescan()
      expect(sites.bravo.received).toHaveLength(1)
    })

    tests('under another name', async ({ sites }) => {
      const path = join(formatFreshPath(sites), 'a name')
      await make(path, sites)
      const before = readFileType(path)
      await sites.bravo.transport.rescan()
      expect(listQuarantineReasons(sites.bravo, 'alpha').map(({ reason }) => reason)).toEqual(['NAME'])
      expectQuarantined(sites, before)
    })
  })
}

/** File type and mode. */
function readFileType(path: string): number {
  return fs.lstatSync(path).mode
}

/** It lies in quarantine as what it was; what it leads to is as it was. */
function expectQuarantined(sites: FiledropSites, mode: number): void {
  const { quarantine } = listChannelFolders(sites.bravo, 'alpha')
  const modes = fs.readdirSync(quarantine).map((name) => fs.lstatSync(join(quarantine, name)).mode)
  expect(modes).toContain(mode)
  expect([fs.readFileSync(secret(sites), 'utf8'), fs.statSync(secret(sites)).mode & 0o777]).toEqual(['secret', 0o644])
  expect(fs.readdirSync(formatFreshPath(sites))).toEqual([])
  expect(sites.bravo.events.filter(({ event }) => event.endsWith('failed'))).toEqual([])
}

describe('a second name for', () => {
  test.for<[name: string, findTarget: (sites: FiledropSites) => string]>([
    ['a secret', secret],
    ['a key of the site', ({ bravo }) => findFirstFile(join(bravo.root, '..', 'keys'))],
    ['its journal', ({ bravo }) => join(bravo.root, '..', 'site.db')],
  ])('%s is never read, nor its mode changed', async ([, findTarget], { sites, soundMessage }) => {
    const target = findTarget(sites)
    const before = fs.statSync(target).mode
    dropMessage(sites, soundMessage)
    const path = join(formatFreshPath(sites), `${soundMessage.stem}.body.json`)
    fs.rmSync(path)
    fs.linkSync(target, path)
    await sites.bravo.transport.rescan()
    expect(listQuarantineReasons(sites.bravo, 'alpha').map(({ reason }) => reason)).toEqual(['HARDLINK'])
    expect(fs.statSync(target).mode).toBe(before)
    expect(sites.bravo.received).toEqual([])
  })
})

function findFirstFile(folder: string): string {
  return join(folder, fs.readdirSync(folder)[0] ?? '')
}
