// The end of a page: at its limit of documents, or at a bound of bytes, whichever comes first.

/** Bytes of the documents of one page, which an answer holds in memory several times over. */
const max_page_bytes = 4_194_304

export class PageFill {
  readonly #limit: number
  readonly #most_bytes: number
  #documents = 0
  #bytes = 0

  constructor(limit: number, most_bytes = max_page_bytes) {
    this.#limit = limit
    this.#most_bytes = most_bytes
  }

  /** Whether the page takes one more document of this size. The first one always fits. */
  add(bytes: number): boolean {
    if (this.#documents === this.#limit) return false
    if (this.#documents > 0 && this.#bytes + bytes > this.#most_bytes) return false
    this.#documents += 1
    this.#bytes += bytes
    return true
  }
}
