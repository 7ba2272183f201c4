// A peer's statement is accepted only when sender, addressee, time and label all hold.
import { expect, test } from 'vitest'
import type { Peer } from '../../../kernel/identity/peer.ts'
import type { Statement } from '../../../kernel/messaging/statement.ts'
import { acceptStatement, type StatementReceiver } from './rules.ts'

const label = { policy: 'SITE', level: 'SECRET', categories: [], originator: 'bravo', releasable_to: ['alpha'] }
const zeros = '0'.repeat(96)
const bravoStatement: Statement = {
  v: 1,
  type: 'platform.message',
  channel: 'filedrop/bravo/alpha',
  src: 'bravo',
  dst: 'alpha',
  sender_tenant_id: 'tenant-b',
  receiver_tenant_id: 'tenant-a',
  epoch: 1,
  seq: 1,
  prev: zeros,
  msg_id: `msg_${'0'.repeat(32)}`,
  kind: 'contribution',
  created: '2026-01-01T12:00:00Z',
  not_after: '2026-01-08T12:00:00Z',
  body: { sha384: zeros, length: 2, schema: 's/1' },
  label,
  parent_block_ids: [],
  max_hops: 1,
}
const peer = {
  name: 'bravo',
  tenant_id: 'tenant-b',
  ceiling: { ...label, level: 'SECRET' },
  not_after_days: 7,
} as unknown as Peer
const receiver: StatementReceiver = {
  site: 'alpha',
  names: ['alpha'],
  labels: { policy: 'SITE', levels: ['UNCLASSIFIED', 'SECRET', 'TOP_SECRET'] },
  now: Date.parse('2026-01-02T12:00:00Z'),
  skew_s: 900,
}

test('a fresh, releasable statement from the pinned peer to this site is accepted', () => {
  expect(acceptStatement(bravoStatement, peer, receiver)).toEqual(label)
})

test.each<[string, Partial<Statement>, Partial<StatementReceiver>, string]>([
  ['another tenant than the pinned one', { sender_tenant_id: 'tenant-c' }, {}, 'signature_invalid'],
  ['another sender', { src: 'charlie' }, {}, 'signature_invalid'],
  ['another addressee', { dst: 'charlie' }, {}, 'signature_invalid'],
  ['of another channel', { channel: 'filedrop/bravo/charlie' }, {}, 'signature_invalid'],
  ['of no known carrier', { channel: 'pigeon/bravo/alpha' }, {}, 'signature_invalid'],
  ['expired', {}, { now: Date.parse('2026-01-08T12:15:01Z') }, 'signature_invalid'],
  [
    'older than enrolment allows, although it requests more',
    { not_after: '2036-01-01T00:00:00Z' },
    { now: Date.parse('2026-01-08T12:15:01Z') },
    'signature_invalid',
  ],
  ['from the future', {}, { now: Date.parse('2026-01-01T11:44:59Z') }, 'signature_invalid'],
  ['above the ceiling', { label: { ...label, level: 'TOP_SECRET' } }, {}, 'label_denied'],
  ['not releasable here', { label: { ...label, releasable_to: ['charlie'] } }, {}, 'label_denied'],
])('%s is refused', (_, changed, receiverChange, code) => {
  expect(acceptStatement({ ...bravoStatement, ...changed }, peer, { ...receiver, ...receiverChange })).toMatchObject({
    code,
  })
})

test('without a trusted clock times are not checked', () => {
  expect(
    acceptStatement({ ...bravoStatement, not_after: '2000-01-01T00:00:00Z' }, peer, { ...receiver, now: undefined }),
  ).toEqual(label)
})
