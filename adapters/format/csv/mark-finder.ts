// Finds the bytes that have a meaning in CSV by WebAssembly, which compares sixteen bytes at once.

/** Bytes that are searched together: they stay in the cache of a processor. */
const piece_bytes = 65_536
const page_bytes = 65_536
/** The positions lie behind the bytes, and the last comparison may end in a page between both. */
const [positions_at, memory_pages] = [2 * page_bytes, 6]

export class MarkFinder {
  static #ofThread: MarkFinder | undefined

  /** The positions of marks in a piece, in order, as many as `count`. They belong to the reader that began last. */
  readonly positions: Int32Array
  count = 0
  /** Index of the first position that was not used. */
  next = 0
  /** Of the piece. */
  #end = 0
  #marks: FourMarks = [0, 0, 0, 0]
  readonly #piece: Uint8Array
  readonly #find: FindFunction

  private constructor() {
    const { memory, find } = new WebAssembly.Instance(new WebAssembly.Module(assemble())).exports
    this.#piece = new Uint8Array(memory.buffer, 0, piece_bytes)
    this.positions = new Int32Array(memory.buffer, positions_at, piece_bytes)
    this.#find = find
  }

  /** One finder for all readers of a thread: each memory of WebAssembly takes gigabytes of addresses. */
  static ofThread(): MarkFinder {
    MarkFinder.#ofThread ??= new MarkFinder()
    return MarkFinder.#ofThread
  }

  /** Begins with other bytes. A negative mark is none. */
  begin(mark: number, ...others: readonly [number, number, number]): void {
    const [second, third, fourth] = others.map((other) => (other < 0 ? mark : other)) as [number, number, number]
    this.#marks = [mark, second, third, fourth]
    this.count = 0
    this.next = 0
    this.#end = 0
  }

  /** Returns the index of the first position from `from` on, which is behind all that were used; `count` if it was not searched yet. */
  seek(from: number): number {
    if (from >= this.#end) {
      this.count = 0
      this.#end = from
      return 0
    }
    let index = Math.min(this.next, this.count)
    while (index < this.count && this.positions[index]! < from) index++
    return index
  }

  /** Finds the marks of the next piece that has some; false at the end. */
  find(bytes: Uint8Array, end: number): boolean {
    this.count = 0
    while (this.count === 0 && this.#end < end)
      this.#findPiece(bytes, this.#end, Math.min(end, this.#end + piece_bytes))
    return this.count > 0
  }

  #findPiece(bytes: Uint8Array, from: number, to: number): void {
    this.#piece.set(bytes.subarray(from, to))
    const last = this.#find(to - from, from, positions_at, ...this.#marks)
    this.count = (last - positions_at) / 4
    // The last comparison has bytes of an earlier piece behind the end.
    while (this.count > 0 && this.positions[this.count - 1]! >= to) this.count--
    this.#end = to
  }
}

type FourMarks = readonly [number, number, number, number]
/** Writes `base` and the place of each mark in the first `length` bytes of the memory to `into`; returns the end of what it wrote. */
type FindFunction = (length: number, base: number, into: number, ...marks: FourMarks) => number

/** What is used of it: the types of Node have none. */
type WebAssemblyObject = {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (
    module: object,
  ) => { readonly exports: { readonly memory: { readonly buffer: ArrayBuffer }; readonly find: FindFunction } }
}

const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: WebAssemblyObject }

// The function, by the numbers that the specification of WebAssembly gives to types, instructions and parts of a module.

const [i32, v128] = [0x7f, 0x7b]
/** Parameters and variables of the function. */
const [length, base, into, first_mark, at, mask, chunk, first_vector] = [0, 1, 2, 3, 7, 8, 9, 10]
const get = (variable: number) => [0x20, variable]
const set = (variable: number) => [0x21, variable]
const number = (value: number) => [0x41, value]
const block = [0x02, 0x40]
const loop = [0x03, 0x40]
const [end, branch, branchIf] = [0x0b, 0x0c, 0x0d]
const [isZero, isBelow, trailingZeros, add, subtract, and] = [0x45, 0x49, 0x68, 0x6a, 0x6b, 0x71]
const storeNumber = [0x36, 2, 0]
const loadVector = [0xfd, 0x00, 0, 0]
const spread = [0xfd, 0x0f]
const equals = [0xfd, 0x23]
const or = [0xfd, 0x50]
const highBits = [0xfd, 0x64]

/** The operands of an instruction come before it. */
function instructions(): number[] {
  const isMark = (index: number) => [...get(chunk), ...get(first_vector + index), ...equals]
  return [
    ...[0, 1, 2, 3].flatMap((index) => [...get(first_mark + index), ...spread, ...set(first_vector + index)]),
    ...loop,
    ...[...get(at), ...loadVector, ...set(chunk)],
    ...[...isMark(0), ...isMark(1), ...or, ...isMark(2), ...or, ...isMark(3), ...or, ...highBits, ...set(mask)],
    ...[...block, ...loop],
    ...[...get(mask), isZero, branchIf, 1],
    ...[...get(into), ...get(base), ...get(at), add, ...get(mask), trailingZeros, add, ...storeNumber],
    ...[...get(into), ...number(4), add, ...set(into)],
    // The lowest bit is done.
    ...[...get(mask), ...get(mask), ...number(1), subtract, and, ...set(mask)],
    ...[branch, 0, end, end],
    ...[...get(at), ...number(16), add, ...set(at)],
    ...[...get(at), ...get(length), isBelow, branchIf, 0, end],
    ...[...get(into), end],
  ]
}

/** A module that exports its memory and the function. */
function assemble(): Uint8Array {
  const body = [2, 2, i32, 5, v128, ...instructions()]
  return Uint8Array.of(
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 7, i32, i32, i32, i32, i32, i32, i32, 1, i32]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, memory_pages]),
    ...section(7, [2, ...named('memory'), 2, 0, ...named('find'), 0, 0]),
    ...section(10, [1, ...sized(body)]),
  )
}

const section = (id: number, content: readonly number[]) => [id, ...sized(content)]
const named = (name: string) => sized([...Buffer.from(name)])
/** Content behind its length, in two groups of seven bits. */
const sized = (content: readonly number[]) => [(content.length & 127) | 128, content.length >> 7, ...content]
