// The names of what may be done to a value before it is compared; values that become the same are equal.

export const normaliserNames = [
  'trim',
  'lower',
  'no_accents',
  'words',
  'sorted_words',
  'letters',
  'digits',
  'code',
  'email',
  'number',
  'decimal',
  'year',
  'date',
  'location',
  'set',
  'no_placeholders',
] as const

export type NormaliserName = (typeof normaliserNames)[number]
