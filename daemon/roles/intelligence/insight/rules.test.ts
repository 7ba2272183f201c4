// An edit changes the fields that it names, and the ledger keeps what they were.
import { describe, expect, test } from 'vitest'
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { StoredInsight } from './model.ts'
import { editInsight } from './rules.ts'

const insight: StoredInsight = {
  ...{
    tenant_id: 't',
    created_by: 'ada',
    created_at: '2026-05-03T10:00:00.000Z',
    updated_at: '2026-05-03T10:00:00.000Z',
  },
  label: { policy: 'P', level: 'LOW', categories: [], originator: 't' },
  ...{ request_digest: '0'.repeat(64), title: 'Why?', description: 'It rang.', state: 'open' },
  entry_context: { type: 'signal', trigger: 'sig_000000000000' },
  ...{ links: [], editions: [], events: 3, pending: [], owes: 0 },
}
const action = { by: 'bob', at: '2026-05-03T11:00:00.000Z' }
const edited = (fields: Parameters<typeof editInsight>[1], of = insight) => {
  const outcome = editInsight(of, fields, action)
  if (isRefusal(outcome)) throw outcome
  return outcome
}

describe('an edit', () => {
  test('changes the title and leaves the description', () => {
    const next = edited({ title: 'How?' })
    expect(next).toMatchObject({ title: 'How?', description: 'It rang.', updated_at: action.at, events: 4, owes: 1 })
    expect(next.pending).toMatchObject([
      { type: 'event', event: { type: 'insight_edited', seq: 4, ...action, replaced: { title: 'Why?' } } },
    ])
  })

  test('with null removes the description, which the ledger keeps', () => {
    const next = edited({ description: null })
    expect(next).not.toHaveProperty('description')
    expect(next.pending).toMatchObject([{ event: { replaced: { description: 'It rang.' } } }])
  })

  test.each([[{}], [{ title: 'Why?' }], [{ title: 'Why?', description: 'It rang.' }]])(
    '%o changes nothing',
    (fields) => {
      expect(edited(fields)).toBe(insight)
    },
  )

  test('of a description that is absent is recorded without one', () => {
    const { description: _, ...bare } = insight
    expect(edited({ description: null }, bare)).toBe(bare)
    expect(edited({ description: 'Now.' }, bare).pending).toMatchObject([{ event: { replaced: {} } }])
  })

  test.each([[{ state: 'closed' as const }], [{ closing_edition_id: 'edi_000000000000' }]])(
    'of an insight that is closed or being closed (%o) is refused',
    (fields) => {
      expect(editInsight({ ...insight, ...fields }, { title: 'How?' }, action)).toMatchObject({ code: 'wrong_state' })
    },
  )
})
