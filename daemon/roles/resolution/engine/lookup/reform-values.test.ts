// Stored values of an earlier form of texts get the present one, and no other value changes.
import { expect, test } from 'vitest'
import { type Lens, lens as schema } from '../../lens/model.ts'
import { normaliseRecord } from './normalise-record.ts'
import { reformValues } from './reform-values.ts'

const lens: Lens = schema.parse({
  ...{ lens: 'people', version: '1.0.0', entity_type: 'person', id_field: 'id' },
  fields: [
    { name: 'name', type: 'name', join: ['given', 'family'] },
    { name: 'born', type: 'date', columns: ['birth'] },
    { name: 'town', type: 'place' },
  ],
})

test.each([
  ['Arabic', { given: 'أحمــد', family: 'حسنى' }, 'أحمــد حسنى'],
  ['Hebrew', { given: 'שָׂרָה', family: 'לוי' }, 'שרה לוי'],
])('values of %s become those of a record that is read now', (_script, record, stored) => {
  const read = normaliseRecord(lens, { ...record, birth: '1950-01-11', town: 'Lund' })
  const values = { name: stored, born: '19500111', town: 'lund' }
  expect(reformValues(lens, { values })).toEqual({ values: read, text_form: 2 })
})

test('vowel marks that the earlier form dropped are not there again', () => {
  const read = normaliseRecord(lens, { given: 'राम', family: 'देव' })
  const { values } = reformValues(lens, { values: { name: 'रम दव' } })
  expect(values).toEqual({ name: 'रम दव' })
  expect(values).not.toEqual(read)
})

test('values of the present form, and values that have no form, are as they were', () => {
  const latin = { values: { name: 'ann lee', town: 'lund', other: 'x' } }
  const formed = { values: { name: 'حسنى' }, text_form: 2, more: 1 }
  expect(reformValues(lens, latin)).toBe(latin)
  expect(reformValues(lens, formed)).toBe(formed)
  expect(reformValues(lens, { ...formed, text_form: 1 })).toEqual({ values: { name: 'حسني' }, text_form: 2, more: 1 })
})
