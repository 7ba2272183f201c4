// Files that change between the look and the use: what is acted upon is what was verified, and the genuine one still gets in.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { FaultPoint } from '../../../adapters/transport/filedrop/fault-points.ts'
import { drop, type Forged, forge } from './forged.ts'
import { incomingOf, quarantineOf, restart, startReceiving, twoSites, type World } from './two-sites.ts'

let world: World
let genuine: Forged
beforeEach(async () => {
  world = await twoSites()
  await startReceiving(world.bravo)
  genuine = await forge(world)
})
afterEach(() => world.dispose())

type Part = 'env' | 'body'
const folders = () => incomingOf(world.bravo, 'alpha')
const lying = () => {
  const { fresh, work } = folders()
  return [fresh, work].flatMap((folder) => fs.readdirSync(folder))
}

/** Where the part lies now. */
function pathOf(part: Part): string {
  const name = `${genuine.stem}.${part}.json`
  const places = [folders().work, folders().fresh].map((folder) => join(folder, name))
  return places.find((path) => fs.lstatSync(path, { throwIfNoEntry: false })) ?? join(folders().fresh, name)
}

/** Puts something else in its place, as a writer who knows the moment would: another file of the name. */
function replaceBy(make: (path: string, elsewhere: string) => void) {
  return (path: string) => {
    const elsewhere = join(world.dir, 'elsewhere')
    fs.renameSync(path, elsewhere)
    make(path, elsewhere)
  }
}

/** Takes the message in, with this done to it once when the step is told. */
async function takenInWith(step: FaultPoint, act: () => void): Promise<void> {
  let isDone = false
  const reached = (at: FaultPoint) => {
    if (at !== step || isDone) return
    isDone = true
    act()
  }
  drop(world, genuine)
  await restart(world.bravo, undefined, {}, { reached })
  expect(isDone).toBe(true)
}

const altered = (text: string) => text.replace('"data":{"seq":1}', '"data":{"seq":7}')

const swaps: readonly [string, (path: string) => void][] = [
  ['another file renamed over it', replaceBy((path, old) => fs.writeFileSync(path, `${fs.readFileSync(old)}x`))],
  ['the same bytes in another file', replaceBy((path, old) => fs.copyFileSync(old, path))],
  ['a file cut short', (path) => fs.truncateSync(path, 10)],
  ['an empty file', (path) => fs.truncateSync(path, 0)],
  ['a longer file', (path) => fs.appendFileSync(path, 'x'.repeat(5_000_000))],
  ['a link to what it was', replaceBy((path, old) => fs.symlinkSync(old, path))],
  ['a link to nowhere', replaceBy((path) => fs.symlinkSync('/nowhere/at/all', path))],
  ['a link to a device', replaceBy((path) => fs.symlinkSync('/dev/zero', path))],
  ['a second name for it', (path) => fs.linkSync(path, join(world.dir, 'elsewhere'))],
  ['a pipe', replaceBy((path) => execFileSync('mkfifo', [path]))],
  ['a folder', replaceBy((path) => fs.mkdirSync(path))],
]

describe.each(['read', 'moved-to-work'] as const)('after %s', (step) => {
  describe.each(['env', 'body'] as const)('the %s becomes', (part) => {
    test.each(swaps)('%s', async (_, swap) => {
      await takenInWith(step, () => swap(pathOf(part)))
      for (const { body_text } of world.bravo.received) expect(body_text).toBe(genuine.body)
      const refused = quarantineOf(world.bravo, 'alpha')
      expect(world.bravo.received.length + refused.length).toBe(1)
      expect(lying()).toEqual([])
      expect(world.bravo.events.filter(({ event }) => event.endsWith('failed'))).toEqual([])

      drop(world, genuine)
      await world.bravo.transport.rescan()
      expect(world.bravo.received.map(({ body_text }) => body_text)).toEqual([genuine.body])
    })

    test('nothing: it is gone, and comes again', async () => {
      await takenInWith(step, () => fs.rmSync(pathOf(part)))
      expect(world.bravo.received).toEqual([])
      drop(world, genuine)
      await world.bravo.transport.rescan()
      expect(world.bravo.received.map(({ body_text }) => body_text)).toEqual([genuine.body])
      // A second copy of the half that was there is all that can be left: it is given up as any half is.
      await world.bravo.transport.rescan()
      world.clock.ms += 86_400_000
      await world.bravo.transport.rescan()
      expect(lying()).toEqual([])
      expect(world.bravo.received).toHaveLength(1)
    })

    test('other bytes of the same length, written into it: what was read before counts', async () => {
      const text = part === 'body' ? altered(String(genuine.body)) : genuine.envelope.replaceAll(/\w/g, 'A')
      await takenInWith(step, () => fs.writeFileSync(pathOf(part), text))
      expect(world.bravo.received.map(({ body_text }) => body_text)).toEqual([genuine.body])
    })
  })
})
