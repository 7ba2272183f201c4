// The versions of libraries that an ELF file of 64 bits requires, from its section .gnu.version_r: what `readelf -V` prints as needs.

const type_version_needs = 0x6ffffffe

/** Names such as GLIBC_2.28, each once, by number. */
export function readNeededVersions(file: Buffer): string[] {
  const sections = readSections(file)
  const found = sections.filter(({ type }) => type === type_version_needs)
  const names = found.flatMap((needs) => readVersionNames(file, needs, sections[needs.link]?.offset ?? 0))
  return [...new Set(names)].sort()
}

type Section = { readonly type: number; readonly offset: number; readonly link: number; readonly info: number }

function readSections(file: Buffer): Section[] {
  const table = Number(file.readBigUInt64LE(40))
  return Array.from({ length: file.readUInt16LE(60) }, (_, index) => {
    const at = table + index * 64
    return {
      type: file.readUInt32LE(at + 4),
      offset: Number(file.readBigUInt64LE(at + 24)),
      link: file.readUInt32LE(at + 40),
      info: file.readUInt32LE(at + 44),
    }
  })
}

/** `info`: how many libraries are needed; each has a chain of versions. */
function readVersionNames(file: Buffer, { offset, info }: Section, strings: number): string[] {
  const names: string[] = []
  for (let library = offset, left = info; left > 0; left--) {
    let version = library + file.readUInt32LE(library + 8)
    for (let count = file.readUInt16LE(library + 2); count > 0; count--) {
      const name = strings + file.readUInt32LE(version + 8)
      names.push(file.subarray(name, file.indexOf(0, name)).toString('latin1'))
      version += file.readUInt32LE(version + 12)
    }
    library += file.readUInt32LE(library + 12)
  }
  return names
}

/** The newest that RHEL 8 has: glibc 2.28, and the libstdc++ of GCC 8. */
const newest: Readonly<Record<string, readonly number[]>> = {
  GLIBC: [2, 28],
  GLIBCXX: [3, 4, 25],
  CXXABI: [1, 3, 11],
  GCC: [8],
}

/** Versions that RHEL 8 does not have. */
export function listNewerVersions(file: Buffer): string[] {
  return readNeededVersions(file).filter((name) => {
    const [, family = '', digits = ''] = /^([A-Z]+)_([\d.]+)$/.exec(name) ?? []
    const limit = newest[family]
    return !limit || compareNumbers(digits.split('.').map(Number), limit) > 0
  })
}

function compareNumbers(one: readonly number[], other: readonly number[]): number {
  for (let at = 0; at < Math.max(one.length, other.length); at++) {
    const difference = (one[at] ?? 0) - (other[at] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
