// Files that change between the check and the use: the verified bytes are used, and the genuine message still gets in.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { FiledropFaultPoint } from '../../../../adapters/transport/filedrop/fault-points.ts'
import { readFolders } from '../../../support/filedrop/filedrop-readers.ts'
import { type FiledropSites, listQuarantineReasons, restartSite } from '../../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../../support/filedrop/filedrop-test.ts'
import { dropMessage, type ForgedMessage, forgeMessage } from '../../../support/filedrop/forge-message.ts'

const test = filedropTest.extend({ options: { receiving: ['bravo'] } })
let genuineMessage: ForgedMessage
test.beforeEach(async ({ sites }) => {
  genuineMessage = await forgeMessage(sites)
})

type MessagePart = 'env' | 'body'
const listFiles = (sites: FiledropSites) => {
  const { fresh, work } = readFolders(sites)
  return [fresh, work].flatMap((folder) => fs.readdirSync(folder))
}

/** Where the part lies now. */
function findPartPath(sites: FiledropSites, part: MessagePart): string {
  const name = `${genuineMessage.stem}.${part}.json`
  const places = [readFolders(sites).work, readFolders(sites).fresh].map((folder) => join(folder, name))
  return places.find((path) => fs.lstatSync(path, { throwIfNoEntry: false })) ?? join(readFolders(sites).fresh, name)
}

/** Puts something else in its place, as a writer who knows the moment would: another file of the name. */
function createReplacement(make: (path: string, elsewhere: string) => void) {
  return (path: string, sites: FiledropSites) => {
    const elsewhere = join(sites.dir, 'elsewhere')
    fs.renameSync(path, elsewhere)
    make(path, elsewhere)
  }
}

/** Takes the message in, with this done to it once at the named step. */
async function takeInWith(sites: FiledropSites, step: FiledropFaultPoint, act: () => void): Promise<void> {
  let isDone = false
  const reached = (at: FiledropFaultPoint) => {
    if (at !== step || isDone) return
    isDone = true
    act()
  }
  dropMessage(sites, genuineMessage)
  await restartSite(sites.bravo, undefined, {}, { passFaultPoint: reached })
  expect(isDone).toBe(true)
}

const alterText = (text: string) => text.replace('"data":{"seq":1}', '"data":{"seq":7}')

const swaps: readonly [string, (path: string, sites: FiledropSites) => void][] = [
  [
    'another file renamed over it',
    createReplacement((path, old) => fs.writeFileSync(path, `${fs.readFileSync(old)}x`)),
  ],
  ['the same bytes in another file', createReplacement((path, old) => fs.copyFileSync(old, path))],
  ['a file cut short', (path) => fs.truncateSync(path, 10)],
  ['an empty file', (path) => fs.truncateSync(path, 0)],
  ['a longer file', (path) => fs.appendFileSync(path, 'x'.repeat(5_000_000))],
  ['a link to what it was', createReplacement((path, old) => fs.symlinkSync(old, path))],
  ['a link to nowhere', createReplacement((path) => fs.symlinkSync('/nowhere/at/all', path))],
  ['a link to a device', createReplacement((path) => fs.symlinkSync('/dev/zero', path))],
  ['a second name for it', (path, sites) => fs.linkSync(path, join(sites.dir, 'elsewhere'))],
  ['a pipe', createReplacement((path) => execFileSync('mkfifo', [path]))],
  ['a folder', createReplacement((path) => fs.mkdirSync(path))],
]

describe.each(['read', 'moved-to-work'] as const)('after %s', (step) => {
  describe.each(['env', 'body'] as const)('the %s becomes', (part) => {
    test.for(swaps)('%s', async ([_, swap], { sites }) => {
      await takeInWith(sites, step, () => swap(findPartPath(sites, part), sites))
      for (const { body_text } of sites.bravo.received) expect(body_text).toBe(genuineMessage.body)
      const refused = listQuarantineReasons(sites.bravo, 'alpha')
      expect(sites.bravo.received.length + refused.length).toBe(1)
      expect(listFiles(sites)).toEqual([])
      expect(sites.bravo.events.filter(({ event }) => event.endsWith('failed'))).toEqual([])

      dropMessage(sites, genuineMessage)
      await sites.bravo.transport.rescan()
      expect(sites.bravo.received.map(({ body_text }) => body_text)).toEqual([genuineMessage.body])
    })

    test('nothing: it is gone, and comes again', async ({ sites }) => {
      await takeInWith(sites, step, () => fs.rmSync(findPartPath(sites, part)))
      expect(sites.bravo.received).toEqual([])
      dropMessage(sites, genuineMessage)
      await sites.bravo.transport.rescan()
      expect(sites.bravo.received.map(({ body_text }) => body_text)).toEqual([genuineMessage.body])
      // A second copy of the half that was there is the only possible leftover: it is given up as any half.
      await sites.bravo.transport.rescan()
      sites.clock.ms += 86_400_000
      await sites.bravo.transport.rescan()
      expect(listFiles(sites)).toEqual([])
      expect(sites.bravo.received).toHaveLength(1)
    })

    test('other bytes of the same length, written into it: what was read before counts', async ({ sites }) => {
      const text =
        part === 'body' ? alterText(String(genuineMessage.body)) : genuineMessage.envelope.replaceAll(/\w/g, 'A')
      await takeInWith(sites, step, () => fs.writeFileSync(findPartPath(sites, part), text))
      expect(sites.bravo.received.map(({ body_text }) => body_text)).toEqual([genuineMessage.body])
    })
  })
})
