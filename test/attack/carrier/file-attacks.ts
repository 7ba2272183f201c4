// A carrier that puts something else than a regular file of its own in place of a message.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { CarrierAttack, HostileCarrier } from './hostile-carrier.ts'

type MessagePart = 'env' | 'body'

/** Delivers message 1, and replaces one of its files. */
function replaceFile(part: MessagePart, make: (path: string, carrier: HostileCarrier) => Promise<void> | void) {
  return async (carrier: HostileCarrier) => {
    const [first] = carrier.parcels
    carrier.deliver(first)
    const path = carrier.path(first, part)
    fs.renameSync(path, join(carrier.elsewhere, part))
    await make(path, carrier)
  }
}

function listenAt(path: string, { elsewhere }: HostileCarrier): Promise<void> {
  const place = join(elsewhere, 's')
  return new Promise((resolve) => {
    const server = createServer().listen(place, () => {
      fs.renameSync(place, path)
      resolve()
    })
    onTestFinished(() => void server.close())
  })
}

const replacements: readonly [string, Parameters<typeof replaceFile>[1]][] = [
  [
    'a link to the genuine file',
    (path, { elsewhere }) => fs.symlinkSync(join(elsewhere, path.endsWith('.env.json') ? 'env' : 'body'), path),
  ],
  ['a link to a key of the site', (path, { sites }) => fs.symlinkSync(join(sites.bravo.root, '..', 'keys'), path)],
  ['a link to a device that never ends', (path) => fs.symlinkSync('/dev/zero', path)],
  ['a link to itself', (path) => fs.symlinkSync(path, path)],
  ['a pipe that nobody writes to', (path) => void execFileSync('mkfifo', [path])],
  ['a socket', listenAt],
  ['a folder with something in it', (path) => void fs.mkdirSync(join(path, 'more'), { recursive: true })],
]

const kinds: readonly CarrierAttack[] = replacements.flatMap(([what, make]) =>
  (['env', 'body'] as const).map((part) => ({
    name: `puts ${what} in place of the ${part === 'env' ? 'envelope' : 'body'}`,
    act: replaceFile(part, make),
    applied: [],
    quarantined: ['NOT_REGULAR'] as const,
  })),
)

const others: readonly CarrierAttack[] = [
  {
    name: 'keeps a second name for the envelope, to change it later',
    act: ({ deliver, path, parcels: [first], elsewhere }) => {
      deliver(first)
      fs.linkSync(path(first, 'env'), join(elsewhere, 'env'))
    },
    applied: [],
    quarantined: ['HARDLINK'],
  },
  {
    name: 'gives the journal of the site a second name, as a body',
    act: replaceFile('body', (path, { sites }) => fs.linkSync(join(sites.bravo.root, '..', 'site.db'), path)),
    applied: [],
    quarantined: ['HARDLINK'],
  },
  {
    name: 'stretches the envelope to five gigabytes that are not there',
    act: ({ deliver, path, parcels: [first] }) => {
      deliver(first)
      fs.truncateSync(path(first, 'env'), 5_000_000_000)
    },
    applied: [],
    quarantined: ['TOO_LARGE'],
  },
  {
    name: 'stretches the body to five gigabytes that are not there',
    act: ({ deliver, path, parcels: [first] }) => {
      deliver(first)
      fs.truncateSync(path(first, 'body'), 5_000_000_000)
    },
    applied: [],
    quarantined: ['TOO_LARGE'],
  },
  {
    name: 'sets modes that give the files to everybody, and rights to the files',
    act: ({ deliver, path, parcels: [first] }) => {
      deliver(first)
      for (const part of ['env', 'body'] as const) fs.chmodSync(path(first, part), 0o6777)
    },
    applied: [1],
  },
  {
    name: 'dates the files before and after all times',
    act: ({ deliver, path, parcels: [first, second] }) => {
      for (const [parcel, seconds] of [
        [first, 0],
        [second, 4_000_000_000],
      ] as const) {
        deliver(parcel)
        for (const part of ['env', 'body'] as const) fs.utimesSync(path(parcel, part), seconds, seconds)
      }
    },
    applied: [1, 2],
  },
]

export const fileAttacks = [...kinds, ...others]
