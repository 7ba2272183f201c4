// A carrier that renames files, and that brings genuine messages to where they do not belong.
import * as fs from 'node:fs'
import { join } from 'node:path'
import {
  buildLabel,
  buildMessage,
  formatReadyPath,
  listChannelFolders,
  startReceiving,
} from '../../support/filedrop/filedrop-sites.ts'
import { type ForgeryOptions, forgeMessage } from '../../support/filedrop/forge-message.ts'
import { sampleTrace } from '../../support/trace/sample-trace.ts'
import { type CarrierAttack, day_ms, formatStem, type HostileCarrier } from './hostile-carrier.ts'

/** Places a message that alpha has really signed, for somebody or somewhere else. */
function misdirect(options: ForgeryOptions) {
  return async ({ sites, put }: HostileCarrier) => {
    const { stem, envelope, body } = await forgeMessage(sites, options)
    put(`${stem}.body.json`, body)
    put(`${stem}.env.json`, envelope)
  }
}

/** Files that are no messages; each is an item of the quarantine under a name of the site's choice. */
function withNames(...names: readonly (string | Buffer)[]) {
  return ({ put }: HostileCarrier) => {
    for (const name of names) put(name, 'x')
  }
}

const toCharlie = { dst: 'charlie', receiver_tenant_id: 'tenant-charlie', channel: 'filedrop/alpha/charlie' }

const renamings: readonly CarrierAttack[] = [
  {
    name: 'replays a message under a later number',
    act: ({ deliver, parcels: [first] }) => deliver(first, { stem: formatStem(9) }),
    applied: [],
    quarantined: ['NAME'],
  },
  {
    name: 'replays a message under another epoch',
    act: ({ deliver, parcels: [first] }) => deliver(first, { stem: formatStem(1, 2) }),
    applied: [],
    quarantined: ['NAME'],
  },
  {
    name: 'exchanges the names of two messages',
    act: ({ deliver, parcels: [first, second] }) => {
      deliver(first, { stem: second.stem })
      deliver(second, { stem: first.stem })
    },
    applied: [],
    quarantined: ['NAME', 'NAME'],
  },
  {
    name: 'gives a message the highest number that a name can hold',
    act: ({ deliver, parcels: [first] }) => deliver(first, { stem: formatStem(9_007_199_254_740_991) }),
    applied: [],
    quarantined: ['NAME'],
  },
  {
    name: 'writes the names in capitals',
    act: ({ put, parcels: [{ stem, env, body }] }) => {
      put(`${stem}.BODY.JSON`, body)
      put(`${stem}.ENV.JSON`, env)
    },
    applied: [],
    quarantined: ['NAME', 'NAME'],
  },
  {
    name: 'writes the numbers in other digits',
    act: withNames(`${formatStem(1).replaceAll('0', '０')}.env.json`),
    applied: [],
    quarantined: ['NAME'],
  },
  {
    name: 'shortens the numbers in the names',
    act: withNames('1-1.env.json', '1-1.body.json'),
    applied: [],
    quarantined: ['NAME', 'NAME'],
  },
  {
    name: 'names files like paths',
    act: withNames('%2e%2e%2fkeys', 'a\\..\\..\\keys', '~', '$(id)'),
    applied: [],
    quarantined: ['NAME', 'NAME', 'NAME', 'NAME'],
  },
  {
    name: 'names files like options, escape sequences and line breaks',
    act: withNames('-rf', '\u001b[2J', 'a\nb', ' ', '\u202egnp.exe'),
    applied: [],
    quarantined: ['NAME', 'NAME', 'NAME', 'NAME', 'NAME'],
  },
  {
    name: 'writes names in bytes that are not text',
    act: withNames(Buffer.from([0xff, 0xfe]), Buffer.from([0xc0, 0xaf]), Buffer.from([0xed, 0xa0, 0x80])),
    applied: [],
    quarantined: ['NAME', 'NAME', 'NAME'],
  },
  {
    name: 'fills a name to the last byte',
    act: withNames('x'.repeat(255), '\u{1f600}'.repeat(63)),
    applied: [],
    quarantined: ['NAME', 'NAME'],
  },
  {
    name: 'brings a CHANNEL.json and a reason file among the messages',
    act: withNames('CHANNEL.json', `${formatStem(1)}.reason.json`),
    applied: [],
    quarantined: ['NAME', 'NAME'],
  },
  {
    name: 'leaves temporary files for ever',
    act: async ({ put, wait }) => {
      put('.part-1', 'x')
      await wait(day_ms)
    },
    applied: [],
    quarantined: ['TRUNCATED'],
  },
]

const misdirections: readonly CarrierAttack[] = [
  {
    name: 'brings a message for another site',
    act: misdirect({ statement: toCharlie }),
    applied: [],
    quarantined: ['WRONG_DST'],
  },
  {
    name: 'brings a message for another tenant of the site',
    act: misdirect({ statement: { receiver_tenant_id: 'tenant-charlie' } }),
    applied: [],
    quarantined: ['WRONG_DST'],
  },
  {
    name: 'brings a message of another kind of channel',
    act: misdirect({ statement: { channel: 'mtls/alpha/bravo' } }),
    applied: [],
    quarantined: ['WRONG_CHANNEL'],
  },
  {
    name: 'brings a message of the channel in the other direction',
    act: misdirect({ statement: { channel: 'filedrop/bravo/alpha' } }),
    applied: [],
    quarantined: ['WRONG_CHANNEL'],
  },
  {
    name: 'reflects the receiver’s own message to it',
    act: async ({ sites, put }) => {
      await startReceiving(sites.alpha)
      const toAlpha = buildMessage(sites, { peer: 'alpha', label: buildLabel(sites.alpha.tenant_id) })
      await sites.bravo.transport.send(toAlpha, sampleTrace)
      await sites.bravo.transport.rescan()
      const ready = formatReadyPath(sites.bravo, 'alpha')
      for (const name of fs.readdirSync(ready)) put(name, fs.readFileSync(join(ready, name)))
    },
    applied: [],
    quarantined: ['UNKNOWN_KEY'],
  },
  {
    name: 'plants an altered message where the site has moved files that it works on',
    act: ({ sites, parcels: [{ stem, env }] }) => {
      const { work } = listChannelFolders(sites.bravo, 'alpha')
      fs.writeFileSync(join(work, `${stem}.body.json`), '{}')
      fs.writeFileSync(join(work, `${stem}.env.json`), env)
    },
    applied: [],
    quarantined: ['BODY_DIGEST'],
  },
  {
    name: 'plants half of a message where the site works, and the other half where it looks',
    act: ({ sites, put, parcels: [{ stem, env, body }] }) => {
      fs.writeFileSync(join(listChannelFolders(sites.bravo, 'alpha').work, `${stem}.body.json`), '{}')
      put(`${stem}.body.json`, body)
      put(`${stem}.env.json`, env)
    },
    applied: [1],
  },
]

export const nameAttacks = [...renamings, ...misdirections]
