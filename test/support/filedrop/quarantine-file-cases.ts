// Messages that the checks of their files refuse, each with its reason.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import type { QuarantineReason } from '../../../adapters/transport/filedrop/quarantine-reasons.ts'
import { formatFreshPath } from './filedrop-readers.ts'
import type { FiledropSites } from './filedrop-sites.ts'
import {
  buildBody,
  buildBravoLabel,
  buildLatin1Forgery,
  dropForged,
  formatEnvelopePath,
  nestArrays,
  repeatPayload,
  repeatSignature,
} from './quarantine-forgeries.ts'

export type QuarantineCase = {
  readonly reason: QuarantineReason
  readonly what: string
  /** Puts the message into the folder. */
  readonly make: (sites: FiledropSites) => Promise<unknown>
}

/** Names, kinds of file, sizes and JSON. */
export const fileCases: readonly QuarantineCase[] = [
  {
    reason: 'NAME',
    what: 'a file of another kind',
    make: async (sites) => fs.writeFileSync(join(formatFreshPath(sites), 'notes.txt'), ''),
  },
  {
    reason: 'NAME',
    what: 'a name with number 0',
    make: (sites) => dropForged(sites, { stem: '00000001-0000000000000000' }),
  },
  {
    reason: 'NAME',
    what: 'a number that no double holds',
    make: (sites) => dropForged(sites, { stem: '00000001-9999999999999999' }),
  },
  {
    reason: 'NAME',
    what: 'a folder of another name',
    make: async (sites) => fs.mkdirSync(join(formatFreshPath(sites), 'folder')),
  },
  {
    reason: 'NAME',
    what: 'a name that is not text',
    make: async (sites) =>
      fs.writeFileSync(Buffer.concat([Buffer.from(`${formatFreshPath(sites)}/`), Buffer.from([0xff, 0xfe])]), ''),
  },
  {
    reason: 'NAME',
    what: 'another number in the name',
    make: (sites) => dropForged(sites, { stem: '00000001-0000000000000007' }),
  },
  {
    reason: 'NOT_REGULAR',
    what: 'a link in place of an envelope',
    make: async (sites) => {
      await dropForged(sites)
      fs.renameSync(formatEnvelopePath(sites), join(sites.dir, 'elsewhere'))
      fs.symlinkSync(join(sites.dir, 'elsewhere'), formatEnvelopePath(sites))
    },
  },
  {
    reason: 'NOT_REGULAR',
    what: 'a pipe',
    make: async (sites) => execFileSync('mkfifo', [formatEnvelopePath(sites)]),
  },
  {
    reason: 'NOT_REGULAR',
    what: 'a folder with a message’s name',
    make: async (sites) => fs.mkdirSync(formatEnvelopePath(sites)),
  },
  {
    reason: 'HARDLINK',
    what: 'a second name elsewhere',
    make: async (sites) => {
      await dropForged(sites)
      fs.linkSync(formatEnvelopePath(sites), join(sites.dir, 'second-name'))
    },
  },
  {
    reason: 'TOO_LARGE',
    what: 'an envelope',
    make: (sites) => dropForged(sites, { envelope: (text) => text + ' '.repeat(65_536) }),
  },
  {
    reason: 'TOO_LARGE',
    what: 'a sparse body of 5 GB',
    make: async (sites) => {
      await dropForged(sites)
      fs.truncateSync(formatEnvelopePath(sites).replace('.env.', '.body.'), 5_000_000_000)
    },
  },
  {
    reason: 'BAD_JSON',
    what: 'an envelope that is none',
    make: (sites) => dropForged(sites, { envelope: () => 'not json' }),
  },
  {
    reason: 'BAD_JSON',
    what: 'something after the envelope',
    make: (sites) => dropForged(sites, { envelope: (text) => `${text}{}` }),
  },
  {
    reason: 'BAD_JSON',
    what: 'an envelope of another shape',
    make: (sites) => dropForged(sites, { envelope: () => '{"payload":1}' }),
  },
  {
    reason: 'BAD_JSON',
    what: 'too many signatures',
    make: (sites) => dropForged(sites, { envelope: repeatSignature }),
  },
  {
    reason: 'BAD_JSON',
    what: 'a body nested too deep',
    make: (sites) =>
      dropForged(sites, {
        body: `{"label":${JSON.stringify(buildBravoLabel(sites))},"schema":"test.v1","data":{"deep":${nestArrays(15)}}}`,
      }),
  },
  {
    reason: 'BAD_JSON',
    what: 'a body that is not UTF-8',
    make: (sites) => dropForged(sites, buildLatin1Forgery(sites)),
  },
  {
    reason: 'DUP_KEY',
    what: 'a repeated key in the envelope',
    make: (sites) => dropForged(sites, { envelope: repeatPayload }),
  },
  {
    reason: 'DUP_KEY',
    what: 'a repeated key in the statement',
    make: (sites) => dropForged(sites, { rewrite: (text) => text.replace('"seq":1', '"seq":1,"s\\u0065q":1') }),
  },
  {
    reason: 'DUP_KEY',
    what: 'in the body',
    make: (sites) => dropForged(sites, { body: buildBody(sites, {}).replace('{', '{"schema":"x",') }),
  },
  {
    reason: 'UNKNOWN_FIELD',
    what: 'in the envelope',
    make: (sites) => dropForged(sites, { envelope: (text) => text.replace('{', '{"x":1,') }),
  },
  {
    reason: 'UNKNOWN_FIELD',
    what: 'in the statement',
    make: (sites) => dropForged(sites, { statement: { via: 'elsewhere' } }),
  },
  {
    reason: 'UNKNOWN_FIELD',
    what: 'in the body',
    make: (sites) => dropForged(sites, { body: buildBody(sites, { extra: 1 }) }),
  },
]
