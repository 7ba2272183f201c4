// Files that change between the look and the use: what is acted upon is what was verified, and the genuine one still gets in.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { FiledropFaultPoint } from '../../../adapters/transport/filedrop/fault-points.ts'
import {
  createFiledropSites,
  type FiledropSites,
  listChannelFolders,
  listQuarantineReasons,
  restartSite,
  startReceiving,
} from './filedrop-sites.ts'
import { dropMessage, type ForgedMessage, forgeMessage } from './forge-message.ts'

let world: FiledropSites
let genuineMessage: ForgedMessage
beforeEach(async () => {
  world = await createFiledropSites()
  await startReceiving(world.bravo)
  genuineMessage = await forgeMessage(world)
})
afterEach(() => world.dispose())

type MessagePart = 'env' | 'body'
const readFolders = () => listChannelFolders(world.bravo, 'alpha')
const listFiles = () => {
  const { fresh, work } = readFolders()
  return [fresh, work].flatMap((folder) => fs.readdirSync(folder))
}

/** Where the part lies now. */
function findPartPath(part: MessagePart): string {
  const name = `${genuineMessage.stem}.${part}.json`
  const places = [readFolders().work, readFolders().fresh].map((folder) => join(folder, name))
  return places.find((path) => fs.lstatSync(path, { throwIfNoEntry: false })) ?? join(readFolders().fresh, name)
}

/** Puts something else in its place, as a writer who knows the moment would: another file of the name. */
function createReplacement(make: (path: string, elsewhere: string) => void) {
  return (path: string) => {
    const elsewhere = join(world.dir, 'elsewhere')
    fs.renameSync(path, elsewhere)
    make(path, elsewhere)
  }
}

/** Takes the message in, with this done to it once when the step is told. */
async function takeInWith(step: FiledropFaultPoint, act: () => void): Promise<void> {
  let isDone = false
  const reached = (at: FiledropFaultPoint) => {
    if (at !== step || isDone) return
    isDone = true
    act()
  }
  dropMessage(world, genuineMessage)
  await restartSite(world.bravo, undefined, {}, { passFaultPoint: reached })
  expect(isDone).toBe(true)
}

const alterText = (text: string) => text.replace('"data":{"seq":1}', '"data":{"seq":7}')

const swaps: readonly [string, (path: string) => void][] = [
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
  ['a second name for it', (path) => fs.linkSync(path, join(world.dir, 'elsewhere'))],
  ['a pipe', createReplacement((path) => execFileSync('mkfifo', [path]))],
  ['a folder', createReplacement((path) => fs.mkdirSync(path))],
]

describe.each(['read', 'moved-to-work'] as const)('after %s', (step) => {
  describe.each(['env', 'body'] as const)('the %s becomes', (part) => {
    test.each(swaps)('%s', async (_, swap) => {
      await takeInWith(step, () => swap(findPartPath(part)))
      for (const { body_text } of world.bravo.received) expect(body_text).toBe(genuineMessage.body)
      const refused = listQuarantineReasons(world.bravo, 'alpha')
      expect(world.bravo.received.length + refused.length).toBe(1)
      expect(listFiles()).toEqual([])
      expect(world.bravo.events.filter(({ event }) => event.endsWith('failed'))).toEqual([])

      dropMessage(world, genuineMessage)
      await world.bravo.transport.rescan()
      expect(world.bravo.received.map(({ body_text }) => body_text)).toEqual([genuineMessage.body])
    })

    test('nothing: it is gone, and comes again', async () => {
      await takeInWith(step, () => fs.rmSync(findPartPath(part)))
      expect(world.bravo.received).toEqual([])
      dropMessage(world, genuineMessage)
      await world.bravo.transport.rescan()
      expect(world.bravo.received.map(({ body_text }) => body_text)).toEqual([genuineMessage.body])
      // A second copy of the half that was there is all that can be left: it is given up as any half is.
      await world.bravo.transport.rescan()
      world.clock.ms += 86_400_000
      await world.bravo.transport.rescan()
      expect(listFiles()).toEqual([])
      expect(world.bravo.received).toHaveLength(1)
    })

    test('other bytes of the same length, written into it: what was read before counts', async () => {
      const text =
        part === 'body' ? alterText(String(genuineMessage.body)) : genuineMessage.envelope.replaceAll(/\w/g, 'A')
      await takeInWith(step, () => fs.writeFileSync(findPartPath(part), text))
      expect(world.bravo.received.map(({ body_text }) => body_text)).toEqual([genuineMessage.body])
    })
  })
})
