// CEF as a SIEM reads it: a record is one line, and no value can pose as another field.
import { expect, test } from 'vitest'
import type { AuditRecord } from '../../daemon/kernel/audit/audit-chain.ts'
import { formatCef } from './cef.ts'

const record: AuditRecord = {
  writer: 'consensus@alpha',
  seq: 7,
  prev: '0'.repeat(64),
  event_digest: '1'.repeat(64),
  hash: '2'.repeat(64),
  event: {
    at: '2026-05-03T10:00:00.000Z',
    action: 'consensus.session.create',
    outcome: 'refused',
    tenant_id: 'acme',
    subject: 'eve suser=root\nCEF:0|fake',
    target: 'ses_1',
    trace_id: 'abc',
    detail: { note: 'a|b=c' },
  },
}

test('the header names product, version, action and severity', () => {
  expect(formatCef(record, '1.2.3')).toMatch(
    /^CEF:0\|platform\|platform\|1\.2\.3\|consensus\.session\.create\|consensus\.session\.create\|6\|rt=1777802400000 /,
  )
})

test('line ends and equals signs in values are escaped, so that nothing can be added', () => {
  const line = formatCef(record, '1')
  expect(line).not.toContain('\n')
  expect(line).toContain('suser=eve suser\\=root\\nCEF:0|fake act=')
  expect(line).toContain('msg={"note":"a|b\\=c"}')
})

test('a record whose body has expired still tells its place and hash', () => {
  const { event: _gone, ...bare } = record
  expect(formatCef(bare, '1')).toBe(
    `CEF:0|platform|platform|1|expired|expired|0|deviceExternalId=consensus@alpha externalId=7 cs6Label=recordHash cs6=${'2'.repeat(64)}`,
  )
})
