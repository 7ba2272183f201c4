// A carrier that changes the folders of a channel, and their marker file.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import type { ChannelFolders } from '../../../adapters/transport/filedrop/files/channel-folders.ts'
import { listChannelFolders, restartSite } from '../../support/filedrop/filedrop-sites.ts'
import type { CarrierAttack, HostileCarrier } from './hostile-carrier.ts'

const foldersAt = ({ sites }: HostileCarrier) => listChannelFolders(sites.bravo, 'alpha')
const markerPath = (carrier: HostileCarrier) => join(foldersAt(carrier).home, 'CHANNEL.json')

/** Takes what enrolment made away, puts something else there, and delivers a message. */
function replaceMarker(make: (path: string, text: string, carrier: HostileCarrier) => unknown) {
  return (carrier: HostileCarrier) => {
    const path = markerPath(carrier)
    const text = fs.readFileSync(path, 'utf8')
    fs.renameSync(path, join(carrier.elsewhere, 'CHANNEL.json'))
    make(path, text, carrier)
    carrier.deliver(carrier.parcels[0])
  }
}

function restoreMarker(carrier: HostileCarrier): void {
  fs.rmSync(markerPath(carrier), { recursive: true, force: true })
  fs.renameSync(join(carrier.elsewhere, 'CHANNEL.json'), markerPath(carrier))
}

const markers: readonly [string, Parameters<typeof replaceMarker>[0]][] = [
  ['removes CHANNEL.json', () => undefined],
  [
    'says in CHANNEL.json that the folder is another peer’s',
    (path, text) => fs.writeFileSync(path, text.replace('"alpha"', '"charlie"')),
  ],
  [
    'says in CHANNEL.json that the folder is another site’s',
    (path, text) => fs.writeFileSync(path, text.replace('"bravo"', '"charlie"')),
  ],
  ['cuts CHANNEL.json short', (path, text) => fs.writeFileSync(path, text.slice(0, 20))],
  ['adds a member to CHANNEL.json', (path, text) => fs.writeFileSync(path, text.replace('{', '{"x":1,'))],
  ['writes CHANNEL.json of a later version', (path, text) => fs.writeFileSync(path, text.replace('"v": 1', '"v": 2'))],
  [
    'stretches CHANNEL.json to five gigabytes',
    (path) => {
      fs.writeFileSync(path, '')
      fs.truncateSync(path, 5_000_000_000)
    },
  ],
  ['puts a pipe in place of CHANNEL.json', (path) => execFileSync('mkfifo', [path])],
  ['puts a folder in place of CHANNEL.json', (path) => fs.mkdirSync(path)],
  [
    'puts a link to the genuine file in place of CHANNEL.json',
    (path, _, { elsewhere }) => fs.symlinkSync(join(elsewhere, 'CHANNEL.json'), path),
  ],
]

const markerAttacks: readonly CarrierAttack[] = markers.map(([name, make]) => ({
  name,
  act: replaceMarker(make),
  applied: [],
  channel: 'stopped',
  alarms: ['filedrop.channel.stopped'],
  repair: restoreMarker,
}))

/** Takes a folder of the channel away, and puts something else there. */
function replaceFolder(name: keyof ChannelFolders, make: (path: string, carrier: HostileCarrier) => unknown) {
  return (carrier: HostileCarrier) => {
    const path = foldersAt(carrier)[name]
    fs.renameSync(path, join(carrier.elsewhere, name))
    make(path, carrier)
  }
}

function restoreFolder(name: keyof ChannelFolders) {
  return (carrier: HostileCarrier) => {
    const path = foldersAt(carrier)[name]
    fs.rmSync(path, { recursive: true, force: true })
    fs.renameSync(join(carrier.elsewhere, name), path)
  }
}

const folderNames = ['fresh', 'work', 'done', 'quarantine', 'ready', 'sent', 'tmp'] as const

const missingFolders: readonly CarrierAttack[] = folderNames.map((name) => ({
  name: `takes the folder ${name} away`,
  act: replaceFolder(name, () => undefined),
  applied: [],
  channel: 'stopped',
  alarms: ['filedrop.channel.stopped'],
  repair: restoreFolder(name),
}))

const others: readonly CarrierAttack[] = [
  {
    name: 'puts a file in place of the folder in which the site looks',
    act: replaceFolder('fresh', (path) => fs.writeFileSync(path, '')),
    applied: [],
    channel: 'stopped',
    alarms: ['filedrop.channel.stopped'],
    repair: restoreFolder('fresh'),
  },
  {
    name: 'takes the folders of the channel away, and leaves empty ones',
    act: (carrier) => {
      const { home, ...folders } = foldersAt(carrier)
      fs.renameSync(home, join(carrier.elsewhere, 'home'))
      for (const folder of Object.values(folders)) fs.mkdirSync(folder, { recursive: true })
    },
    applied: [],
    channel: 'stopped',
    alarms: ['filedrop.channel.stopped'],
    repair: (carrier) => {
      const { home } = foldersAt(carrier)
      fs.rmSync(home, { recursive: true })
      fs.renameSync(join(carrier.elsewhere, 'home'), home)
    },
  },
  {
    name: 'fills the quarantine to its quota',
    act: async ({ sites, put, deliver, parcels: [first], scan }) => {
      await restartSite(sites.bravo, undefined, { quarantine_max_bytes: 100_000 })
      put('stranger', Buffer.alloc(100_000))
      await scan()
      deliver(first)
    },
    applied: [],
    quarantined: ['NAME'],
    alarms: ['filedrop.quarantine.full'],
    repair: ({ sites }) => restartSite(sites.bravo, undefined, { quarantine_max_bytes: 200_000 }),
  },
]

export const folderAttacks = [...markerAttacks, ...missingFolders, ...others]
