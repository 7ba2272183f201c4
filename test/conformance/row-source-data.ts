// The rows that each source of rows is given for its requirements, and what lands of them.

export type PersonRow = {
  readonly id: number
  readonly name: string | null
  /** A 64-bit integer as text. */
  readonly big: string | null
  readonly share: number | null
  readonly born: string | null
  readonly seen: string | null
}

/** Letters of several scripts, what quotes and separates, what looks like no value, and nothing. */
const names = [
  'Ann',
  `Bo "the" O'Neil\\ \nsecond line\r\n\ttab`,
  'ž \u{1f600} \u2028 عمر 王',
  'null',
  '',
  '007',
  '{"a": 1}',
  "'; DROP TABLE people; --",
] as const

const special: readonly PersonRow[] = [
  {
    id: 1,
    name: names[0],
    big: '9223372036854775807',
    share: 0.1,
    born: '1969-12-31',
    seen: '2024-02-29 13:00:00.123456',
  },
  {
    id: 2,
    name: names[1],
    big: '-9223372036854775808',
    share: -1.5e-7,
    born: '1000-01-01',
    seen: '1970-01-02 00:00:01',
  },
  {
    id: 3,
    name: names[2],
    big: '9007199254740993',
    share: 1e300,
    born: '9999-12-31',
    seen: '2037-12-31 23:59:59.999999',
  },
  { id: 4, name: null, big: null, share: null, born: null, seen: null },
]

/** More than a block of any source. */
const count = 700

export const people: readonly PersonRow[] = [
  ...special,
  ...Array.from({ length: count - special.length }, (_, at) => ({
    ...{ id: at + 5, name: names[at % names.length] ?? '', big: String(BigInt(at) * 9_007_199_254_741n) },
    ...{ share: at + 0.5, born: '2024-02-29', seen: `2024-02-29 13:00:00.${String(at).padStart(6, '0')}` },
  })),
]

export const personColumns = ['id', 'name', 'big', 'share', 'born', 'seen'] as const

/** The type of each column once it has landed. */
export const landedTypes: Readonly<Record<keyof PersonRow, string>> = {
  ...{ id: 'int64', name: 'text', big: 'int64', share: 'double', born: 'date', seen: 'local_timestamp' },
}

/** Comparable with the values of a landed dataset: null where there is none. */
export function normalizePerson(value: (column: keyof PersonRow) => string | undefined) {
  const share = value('share')
  return {
    ...{ id: Number(value('id')), name: value('name') ?? null, big: value('big') ?? null },
    ...{ share: share === undefined ? null : Number(share), born: value('born') ?? null },
    seen:
      value('seen')
        ?.replace('T', ' ')
        .replace(/\.0+$/, '')
        .replace(/(\.\d*[1-9])0+$/, '$1') ?? null,
  }
}

export const expectedPeople = people.map((row) =>
  normalizePerson((column) => (row[column] === null ? undefined : String(row[column]))),
)
