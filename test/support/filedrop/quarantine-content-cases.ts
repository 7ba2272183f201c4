// Messages that the checks of their signed content refuse, each with its reason.
import { buildLabel } from './filedrop-sites.ts'
import type { QuarantineCase } from './quarantine-file-cases.ts'
import {
  buildBody,
  buildLabelledForgery,
  changePayload,
  dropForged,
  formatHours,
  repinAlpha,
  signByStranger,
} from './quarantine-forgeries.ts'

/** Signatures, statements, bodies and labels. */
export const contentCases: readonly QuarantineCase[] = [
  { reason: 'BAD_SIG', what: 'a changed statement', make: (sites) => dropForged(sites, { envelope: changePayload }) },
  {
    reason: 'UNKNOWN_KEY',
    what: 'a stranger’s key',
    make: async (sites) => dropForged(sites, { signatures: await signByStranger(sites) }),
  },
  {
    reason: 'KEY_REVOKED',
    what: 'a revoked key',
    make: (sites) => repinAlpha(sites, { revoked: true }).then(() => dropForged(sites)),
  },
  {
    reason: 'THRESHOLD',
    what: 'one signature of two',
    make: (sites) => repinAlpha(sites, { threshold: 2 }).then(() => dropForged(sites)),
  },
  { reason: 'WRONG_DST', what: 'another site', make: (sites) => dropForged(sites, { statement: { dst: 'charlie' } }) },
  {
    reason: 'WRONG_DST',
    what: 'another tenant',
    make: (sites) => dropForged(sites, { statement: { receiver_tenant_id: 'other' } }),
  },
  {
    reason: 'WRONG_CHANNEL',
    what: 'another carrier’s',
    make: (sites) => dropForged(sites, { statement: { channel: 'mtls/alpha/bravo' } }),
  },
  {
    reason: 'WRONG_CHANNEL',
    what: 'another sender',
    make: (sites) => dropForged(sites, { statement: { src: 'charlie' } }),
  },
  {
    reason: 'WRONG_CHANNEL',
    what: 'another tenant',
    make: (sites) => dropForged(sites, { statement: { sender_tenant_id: 'other' } }),
  },
  {
    reason: 'TYPE',
    what: 'another type',
    make: (sites) => dropForged(sites, { statement: { type: 'platform.other' } }),
  },
  { reason: 'TYPE', what: 'a later version', make: (sites) => dropForged(sites, { statement: { v: 9 } }) },
  { reason: 'TYPE', what: 'an unknown kind', make: (sites) => dropForged(sites, { statement: { kind: 'gossip' } }) },
  {
    reason: 'SCHEMA',
    what: 'a statement without a field',
    make: (sites) => dropForged(sites, { statement: { msg_id: undefined } }),
  },
  {
    reason: 'SCHEMA',
    what: 'a body without its data',
    make: (sites) => dropForged(sites, { body: buildBody(sites, { data: undefined }) }),
  },
  {
    reason: 'SCHEMA',
    what: 'a body of another schema',
    make: (sites) => dropForged(sites, { body: buildBody(sites, { schema: 'other' }) }),
  },
  {
    reason: 'BODY_DIGEST',
    what: 'other bytes',
    make: (sites) => dropForged(sites, { placed: buildBody(sites, { data: { seq: 2 } }) }),
  },
  {
    reason: 'BODY_DIGEST',
    what: 'more bytes',
    make: (sites) => dropForged(sites, { placed: `${buildBody(sites, { data: { seq: 1 } })} ` }),
  },
  {
    reason: 'EXPIRED',
    what: 'by its own end',
    make: (sites) => dropForged(sites, { statement: { created: formatHours(-9), not_after: formatHours(-1) } }),
  },
  {
    reason: 'EXPIRED',
    what: 'by the channel’s',
    make: (sites) => dropForged(sites, { statement: { created: formatHours(-24 * 8) } }),
  },
  {
    reason: 'FUTURE',
    what: 'beyond the skew',
    make: (sites) => dropForged(sites, { statement: { created: formatHours(0.5) } }),
  },
  { reason: 'FAST_FORWARD', what: 'a leap', make: (sites) => dropForged(sites, { seq: 2 ** 20 + 1 }) },
  { reason: 'FAST_FORWARD', what: 'an epoch not announced', make: (sites) => dropForged(sites, { epoch: 2 }) },
  {
    reason: 'CHAIN_BREAK',
    what: 'no first message',
    make: (sites) => dropForged(sites, { statement: { prev: 'a'.repeat(96) } }),
  },
  {
    reason: 'LABEL_MISSING',
    what: 'in the statement',
    make: (sites) => dropForged(sites, { statement: { label: undefined } }),
  },
  {
    reason: 'LABEL_MISSING',
    what: 'in the body',
    make: (sites) => dropForged(sites, { body: buildBody(sites, { label: undefined }) }),
  },
  {
    reason: 'LABEL_DENIED',
    what: 'above the ceiling',
    make: (sites) => dropForged(sites, buildLabelledForgery(sites, { level: 'TOP_SECRET' })),
  },
  {
    reason: 'LABEL_DENIED',
    what: 'another category',
    make: (sites) => dropForged(sites, buildLabelledForgery(sites, { categories: ['X'] })),
  },
  {
    reason: 'LABEL_DENIED',
    what: 'released to others',
    make: (sites) => dropForged(sites, buildLabelledForgery(sites, { releasable_to: ['charlie'] })),
  },
  {
    reason: 'LABEL_DENIED',
    what: 'another policy',
    make: (sites) => dropForged(sites, buildLabelledForgery(sites, { policy: 'NATO' })),
  },
  {
    reason: 'LABEL_DENIED',
    what: 'no label at all',
    make: (sites) => dropForged(sites, { statement: { label: 'SECRET' } }),
  },
  {
    reason: 'LABEL_DENIED',
    what: 'another one in the body',
    make: (sites) =>
      dropForged(sites, {
        body: buildBody(sites, { label: buildLabel(sites.bravo.tenant_id, { level: 'UNCLASSIFIED' }) }),
      }),
  },
]
