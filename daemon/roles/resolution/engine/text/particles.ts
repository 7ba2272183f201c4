// Particles of names: one writes them apart, another joins them, moves them behind the name or leaves them out.

/** Particles in normal form, by language. Words that are also given names of many people, such as `e` or `an`, are left out. */
const particlesByLanguage: Readonly<Record<string, string>> = {
  Dutch: 'van der den de het ter ten te tot op t s',
  German: 'von vom zu zum zur der den dem',
  French: 'de du des d la le les l',
  Spanish: 'de del la las los',
  Portuguese: 'de da do das dos',
  Italian: 'di de da del dello della dei degli delle dal dalla lo d',
  Scandinavian: 'af av',
  Irish: 'o ni nic ua mac mc',
  Welsh: 'ap ab ferch',
  Arabic: 'al el ul bin ibn bint ben abu abou',
  Hebrew: 'ben bar bat',
  Malay: 'bin binti',
}
const particles: ReadonlySet<string> = new Set(Object.values(particlesByLanguage).flatMap((words) => words.split(' ')))

/** Particles that are joined with the name, where nothing but a particle begins a name so. */
const joinedParticles = /^(vander|vanden|vande|vonder|dela|delas|delos|della|dello|degli)(?=[a-z]{3})/
/** The two spellings of one particle, before a name of four letters or more: MacDonald, McDonald. */
const macSpelling = /^mac(?=[a-z]{4})/
const min_core_letters = 3

export type ParticleForms = {
  /** All words joined, particles first: equal for `van der Berg`, `Vanderberg` and `Berg, van der`. */
  readonly joined: string
  /** The name without particles; the whole name where nothing else remains. */
  readonly core: string
}

/** Reads the forms of a Latin form. */
export function readParticles(latin: string): ParticleForms {
  const words = latin.split(' ')
  const names = words.filter((word) => !particles.has(word))
  if (names.length === 0) return { joined: words.join(''), core: words.join(' ') }
  let end = words.length
  while (particles.has(words[end - 1]!)) end--
  const joined = [...words.slice(end), ...words.slice(0, end)].join('').replace(macSpelling, 'mc')
  const core = names.map((word) => word.replace(joinedParticles, '').replace(macSpelling, 'mc')).join(' ')
  return { joined, core: core.length < min_core_letters ? words.join(' ') : core }
}
