// Names of the algorithms that reduce a name to its sound; a field may use several.

export const phoneticNames = ['metaphone', 'double_metaphone', 'soundex', 'cologne', 'consonants'] as const

export type PhoneticName = (typeof phoneticNames)[number]

/** How the names of a field are compared and blocked, beside their type. */
export type NameOptions = {
  readonly phonetics: readonly PhoneticName[]
  /** Whether particles, such as `van der`, may be joined, moved or left out. */
  readonly hasParticles: boolean
  /** Groups of a name and its short forms; undefined without a list. */
  /** Lines as in a list: `Robert: Bob, Rob`. */
  readonly nicknames: readonly string[] | undefined
}

export const defaultNameOptions: NameOptions = { phonetics: ['metaphone'], hasParticles: false, nicknames: undefined }
