// Names of the normalisers that a lens may apply to a value before comparison; equal results are equal values.

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
  'codes',
  'numbers',
  'phone',
  'url',
  'company',
  'no_placeholders',
] as const

export type NormaliserName = (typeof normaliserNames)[number]
