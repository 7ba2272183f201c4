// Columns of two sources are one field if their names or their values are alike.
import { expect, test } from 'vitest'
import { alignColumns } from './align-columns.ts'
import { buildTextColumn } from './collect-columns.ts'
import { profileColumns } from './profile.ts'

function profileSource(name: string, columns: Readonly<Record<string, readonly string[]>>) {
  const rows = Math.max(...Object.values(columns).map((values) => values.length))
  const source = {
    name,
    rows,
    names: Object.keys(columns),
    columns: Object.entries(columns).map(([column, values]) => buildTextColumn(column, values)),
  }
  return { source, profiles: profileColumns(source, new Map()) }
}

function align(...sources: readonly Readonly<Record<string, readonly string[]>>[]): (string | undefined)[][] {
  const profiled = sources.map((columns, at) => profileSource(`source ${at}`, columns))
  return alignColumns(profiled, () => undefined).map((group) => group.map((profile) => profile?.column))
}

test('one name, similar names, and values in common', () => {
  const aligned = align(
    {
      title: ['harbour lights', 'nordic winter', 'castle road'],
      startYear: ['1959', '1972', '1980'],
      lead: ['Ann Green', 'Bo Waller', 'Cy Marsh'],
      telephone: ['0171 555 2368', '0171 555 2369', '0171 555 2370'],
    },
    {
      phone: ['+44 171 555 2368', '+44 171 555 2371', '+44 171 555 2370'],
      release_year: ['1959', '1972', '1981'],
      title: ['Harbour Lights', 'Mill Street', 'Castle Road'],
      played_by: ['Green, Ann', 'Waller, Bo', 'Dee Frost'],
    },
  )
  expect(aligned).toEqual([
    ['title', 'title'],
    ['startYear', 'release_year'],
    ['lead', 'played_by'],
    ['telephone', 'phone'],
  ])
})

test('columns of other facts stay alone, although numbers and categories coincide', () => {
  const aligned = align(
    { floors: ['1', '2', '3'], town: ['Ashford', 'Barton', 'Corby'] },
    { seats: ['1', '2', '3'], maker: ['Nordic', 'Harbour', 'Kestrel'] },
  )
  expect(aligned).toEqual([
    ['floors', undefined],
    ['town', undefined],
    [undefined, 'seats'],
    [undefined, 'maker'],
  ])
})
