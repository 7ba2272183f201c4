// Drops the symbol table from Node, 18 MB that nothing reads at run time, without needing binutils for either machine.

const SECTION_ALLOCATED = 2n
const TYPE_NO_BITS = 8
const HEADER = { programs: 32, sections: 40, programSize: 54, programCount: 56, sectionSize: 58, count: 60, names: 62 }

/**
 * A copy of a 64-bit little-endian ELF file with only those sections that are loaded into memory. Nothing that is
 * loaded moves: the file is cut after it, and a shorter section table is written at the end.
 */
export function stripElf(file) {
  if (file.readUInt32BE(0) !== 0x7f454c46 || file[4] !== 2 || file[5] !== 1) throw new Error('not an ELF64 LE file')
  const namesIndex = file.readUInt16LE(HEADER.names)
  const sections = readSections(file)
  const names = sections[namesIndex]
  const kept = sections.filter((s) => s.index === 0 || s.flags & SECTION_ALLOCATED)
  const newIndex = new Map([...kept, names].map((s, i) => [s.index, i]))

  const loadedEnd = Math.max(programsEnd(file), ...kept.map((s) => (s.type === TYPE_NO_BITS ? 0 : s.offset + s.size)))
  const namesBytes = file.subarray(names.offset, names.offset + names.size)
  const tableOffset = Math.ceil((loadedEnd + namesBytes.length) / 8) * 8
  const stripped = Buffer.alloc(tableOffset + (kept.length + 1) * 64)
  file.copy(stripped, 0, 0, loadedEnd)
  namesBytes.copy(stripped, loadedEnd)

  for (const section of [...kept, names]) {
    const at = tableOffset + newIndex.get(section.index) * 64
    section.header.copy(stripped, at)
    // A link names another section by its index: a dropped one would leave the file invalid.
    if (!newIndex.has(section.link)) throw new Error('a loaded section links to one that is not')
    stripped.writeUInt32LE(newIndex.get(section.link), at + 40)
    if (newIndex.has(section.info) && section.infoIsLink) stripped.writeUInt32LE(newIndex.get(section.info), at + 44)
  }
  stripped.writeBigUInt64LE(BigInt(loadedEnd), tableOffset + kept.length * 64 + 24)
  stripped.writeBigUInt64LE(BigInt(tableOffset), HEADER.sections)
  stripped.writeUInt16LE(kept.length + 1, HEADER.count)
  stripped.writeUInt16LE(kept.length, HEADER.names)
  return stripped
}

function readSections(file) {
  const table = Number(file.readBigUInt64LE(HEADER.sections))
  const count = file.readUInt16LE(HEADER.count)
  return Array.from({ length: count }, (_, index) => {
    const header = file.subarray(table + index * 64, table + (index + 1) * 64)
    const flags = header.readBigUInt64LE(8)
    return {
      index,
      header,
      flags,
      type: header.readUInt32LE(4),
      offset: Number(header.readBigUInt64LE(24)),
      size: Number(header.readBigUInt64LE(32)),
      link: header.readUInt32LE(40),
      info: header.readUInt32LE(44),
      infoIsLink: Boolean(flags & 0x40n),
    }
  })
}

function programsEnd(file) {
  const table = Number(file.readBigUInt64LE(HEADER.programs))
  const size = file.readUInt16LE(HEADER.programSize)
  let end = 0
  for (let i = 0; i < file.readUInt16LE(HEADER.programCount); i++) {
    const at = table + i * size
    end = Math.max(end, Number(file.readBigUInt64LE(at + 8) + file.readBigUInt64LE(at + 32)))
  }
  return end
}
