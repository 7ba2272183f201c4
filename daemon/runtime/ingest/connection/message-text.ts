// The line of JSON that a message lands as, or why it cannot.
import { isUtf8 } from 'node:buffer'
import { formatJsonValue, parseJsonRecord } from '../../../../adapters/format/json-lines/json-record.ts'
import { usualLimits } from '../../../kernel/data/read-options.ts'
import type { MessageProperty, SourceMessage } from '../../../shared/message-source/message-source.ts'

export type BodyForm = 'json' | 'text' | 'base64'

const max_value_bytes = usualLimits.maxFieldBytes('')
/** Characters of a name in a reason. */
const max_shown = 128

type MessageLine = { readonly line: string } | { readonly reason: string }

/** Bytes of a value by those of the body: `1e15,` in a list becomes a number of 16 digits. */
const max_growth = 4

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
    const { body, isTombstone } = message
    if (isTombstone) return this.#writeTombstone(message)
    if (this.#form === 'base64') return this.#wrap(message, Buffer.from(body).toString('base64'))
    if (!isUtf8(body)) return { reason: 'the body is not UTF-8' }
    if (this.#form === 'text') return this.#wrap(message, Buffer.from(body).toString())
    return this.#writeObject(message)
  }

  #wrap(message: SourceMessage, body: string): MessageLine {
    const record = { ...this.#pick(message), body }
    const long = findLongValue(record)
    if (long !== undefined) return { reason: long }
    return { line: JSON.stringify(record) }
  }

  /** Its key says what is gone: without a property it would be a row without a value. */
  #writeTombstone(message: SourceMessage): MessageLine {
    const picked = this.#pick(message)
    if (Object.values(picked).every((value) => value === null))
      return { reason: 'the message has no body, and no property that is a column' }
    const long = findLongValue(picked)
    if (long !== undefined) return { reason: long }
    return { line: JSON.stringify(this.#form === 'json' ? picked : { ...picked, body: null }) }
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
    const picked = this.#pick(message)
    const own = message.body.length * max_growth > max_value_bytes ? findLongValue(record) : undefined
    const long = own ?? findLongValue(picked)
    const fault = long ?? this.#addColumns(names)
    if (fault !== undefined) return { reason: fault }
    // Line breaks are between the values alone: within them JSON has none.
    const text = Buffer.from(message.body)
      .toString()
      .replaceAll(/[\r\n]/g, ' ')
      .trim()
    const added = JSON.stringify(picked).slice(1, -1)
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

/** Why the reader of the lines would leave the record out: it keeps the beginning alone, and the queue has the message no more. */
function findLongValue(record: Readonly<Record<string, unknown>>): string | undefined {
  for (const [name, value] of Object.entries(record)) {
    const formatted = formatJsonValue(value, '|')
    const text = 'fault' in formatted ? JSON.stringify(value) : (formatted.text ?? '')
    if (text.length * 3 > max_value_bytes && Buffer.byteLength(text) > max_value_bytes)
      return `${JSON.stringify(name.slice(0, max_shown))} has more than ${max_value_bytes} bytes`
  }
  return undefined
}

function describeFault(reason: string): string {
  if (reason.startsWith('the line is not an object')) return 'the body is not a JSON object'
  return reason.replace(/^the line/, 'the body')
}
