// The line of JSON that a message lands as, or why it cannot.
import { isUtf8 } from 'node:buffer'
import { parseJsonRecord } from '../../../../adapters/format/json-lines/json-record.ts'
import { usualLimits } from '../../../kernel/data/read-options.ts'
import type { MessageProperty, SourceMessage } from '../../../shared/message-source/message-source.ts'

export type BodyForm = 'json' | 'text' | 'base64'

type MessageLine = { readonly line: string } | { readonly reason: string }

const columnOf = (property: MessageProperty) => `_${property}`

/** Writes the messages of one reading. Together they have as many columns as a dataset may. */
export class MessageWriter {
  readonly #form: BodyForm
  readonly #properties: readonly MessageProperty[]
  readonly #columns: Set<string>

  constructor(form: BodyForm, properties: readonly MessageProperty[]) {
    this.#form = form
    this.#properties = properties
    this.#columns = new Set(properties.map(columnOf))
  }

  write(message: SourceMessage): MessageLine {
    const { body } = message
    if (this.#form === 'base64') return this.#wrap(message, Buffer.from(body).toString('base64'))
    if (!isUtf8(body)) return { reason: 'the body is not UTF-8' }
    if (this.#form === 'text') return this.#wrap(message, Buffer.from(body).toString())
    return this.#writeObject(message)
  }

  #wrap(message: SourceMessage, body: string): MessageLine {
    return { line: JSON.stringify({ ...this.#pick(message), body }) }
  }

  /** A property that a message does not have is a missing value of its column. */
  #pick({ properties }: SourceMessage): Record<string, string | null> {
    return Object.fromEntries(this.#properties.map((name) => [columnOf(name), properties[name] ?? null]))
  }

  /** The body as it is written, with all digits of its numbers. */
  #writeObject(message: SourceMessage): MessageLine {
    const record = parseJsonRecord(message.body)
    if (typeof record === 'string') return { reason: describeFault(record) }
    const names = Object.keys(record)
    const fault = this.#addColumns(names)
    if (fault !== undefined) return { reason: fault }
    // Line breaks are between the values alone: within them JSON has none.
    const text = Buffer.from(message.body)
      .toString()
      .replaceAll(/[\r\n]/g, ' ')
      .trim()
    const added = JSON.stringify(this.#pick(message)).slice(1, -1)
    const comma = added !== '' && names.length > 0 ? ',' : ''
    return { line: `{${added}${comma}${text.slice(1)}` }
  }

  #addColumns(names: readonly string[]): string | undefined {
    const taken = this.#properties.map(columnOf).find((name) => names.includes(name))
    if (taken !== undefined) return `${JSON.stringify(taken)} is the column of a property of messages`
    const added = names.filter((name) => !this.#columns.has(name))
    if (this.#columns.size + added.length > usualLimits.names)
      return `with it, the messages of the run would have more than ${usualLimits.names} different fields`
    for (const name of added) this.#columns.add(name)
    return undefined
  }
}

function describeFault(reason: string): string {
  if (reason.startsWith('the line is not an object')) return 'the body is not a JSON object'
  return reason.replace(/^the line/, 'the body')
}
