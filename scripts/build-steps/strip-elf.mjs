// Removes the symbol table of Node, 18 MB that are unused at run time, without binutils for the target machine.

const SECTION_ALLOCATED = 2n
const TYPE_NO_BITS = 8
const HEADER = { programs: 32, sections: 40, programSize: 54, programCount: 56, sectionSize: 58, count: 60, names: 62 }

/**
 * Copies a 64-bit little-endian ELF file with only the sections that are loaded into memory. Loaded sections keep their
 * offsets: the file ends after them, followed by a shorter section table.
 */
export function stripElf(file) {
  if (file.readUInt32BE(0) !== 0x7f454c46 || file[4] !== 2 || file[5] !== 1)
    throw new Error('the file is not a 64-bit little-endian ELF file')
  const namesIndex = file.readUInt16LE(HEADER.names)
  const sections = readSections(file)
  const names = sections[namesIndex]
  const loaded = sections.filter((s) => s.index === 0 || s.flags & SECTION_ALLOCATED)
  const newIndex = new Map([...loaded, names].map((s, i) => [s.index, i]))

  const loadedEnd = Math.max(programsEnd(file), ...loaded.map((s) => (s.type === TYPE_NO_BITS ? 0 : s.offset + s.size)))
  const namesBytes = file.subarray(names.offset, names.offset + names.size)
  const tableOffset = Math.ceil((loadedEnd + namesBytes.length) / 8) * 8
  const stripped = Buffer.alloc(tableOffset + (loaded.length + 1) * 64)
  file.copy(stripped, 0, 0, loadedEnd)
  namesBytes.copy(stripped, loadedEnd)

  for (const section of [...loaded, names]) {
    const entry = tableOffset + newIndex.get(section.index) * 64
    section.header.copy(stripped, entry)
    // A link refers to a section by index; a link to a removed section would make the file invalid.
    if (!newIndex.has(section.link)) throw new Error('a loaded section links to a removed one')
    stripped.writeUInt32LE(newIndex.get(section.link), entry + 40)
    if (newIndex.has(section.info) && section.infoIsLink) stripped.writeUInt32LE(newIndex.get(section.info), entry + 44)
  }
  stripped.writeBigUInt64LE(BigInt(loadedEnd), tableOffset + loaded.length * 64 + 24)
  stripped.writeBigUInt64LE(BigInt(tableOffset), HEADER.sections)
  stripped.writeUInt16LE(loaded.length + 1, HEADER.count)
  stripped.writeUInt16LE(loaded.length, HEADER.names)
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
    const entry = table + i * size
    end = Math.max(end, Number(file.readBigUInt64LE(entry + 8) + file.readBigUInt64LE(entry + 32)))
  }
  return end
}
