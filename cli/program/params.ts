// The types of command parameters. Each is parsed once, so that no command receives raw text.
import { InvalidParamError, type Param } from './command.ts'

const optionalParam = { isRequired: false, isRest: false } as const

export function text(metavar: string, help: string): Param<string | undefined> {
  return { ...optionalParam, metavar, help, parse: (input) => input, defaultValue: undefined }
}

export function flag(help: string): Param<boolean> {
  return { ...optionalParam, metavar: undefined, help, parse: () => true, defaultValue: false }
}

/** Names separated by commas; empty if absent. */
export function nameList(metavar: string, help: string): Param<readonly string[]> {
  return { ...optionalParam, metavar, help, parse: splitNames, defaultValue: [] }
}

function splitNames(input: string): string[] {
  const parts = input.split(',').map((part) => part.trim())
  if (parts.some((part) => part === '')) throw new InvalidParamError('it has an empty name between commas')
  return parts
}

export function integer(
  metavar: string,
  help: string,
  min = 0,
  max = Number.MAX_SAFE_INTEGER,
): Param<number | undefined> {
  const parse = (input: string) => {
    const value = /^\d{1,16}$/.test(input) ? Number(input) : Number.NaN
    if (!(value >= min && value <= max)) throw new InvalidParamError(`it must be a whole number from ${min} to ${max}`)
    return value
  }
  return { ...optionalParam, metavar, help, parse, defaultValue: undefined }
}

export function decimal(metavar: string, help: string, min: number, max: number): Param<number | undefined> {
  const parse = (input: string) => {
    const value = /^-?(\d+(\.\d+)?|\.\d+)$/.test(input) ? Number(input) : Number.NaN
    if (!(value >= min && value <= max)) throw new InvalidParamError(`it must be a number from ${min} to ${max}`)
    return value
  }
  return { ...optionalParam, metavar, help, parse, defaultValue: undefined }
}

export function choice<const V extends string>(
  metavar: string,
  help: string,
  values: readonly V[],
): Param<V | undefined> {
  const parse = (input: string) => {
    const match = values.find((value) => value.toLowerCase() === input.toLowerCase())
    if (match === undefined) throw new InvalidParamError(`it must be one of ${values.join(', ')}`)
    return match
  }
  return { ...optionalParam, metavar, help: `${help} (${values.join(', ')})`, parse, defaultValue: undefined }
}

/** Some of these values, separated by commas; empty if absent. */
export function choiceList<const V extends string>(
  metavar: string,
  help: string,
  values: readonly V[],
): Param<readonly V[]> {
  const one = choice(metavar, help, values)
  return { ...one, parse: (input) => splitNames(input).map((name) => one.parse(name)), defaultValue: [] }
}

const secondsPerUnit: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }

/** `90`, `15m`, `8h` or `30d`, in seconds. */
export function duration(metavar: string, help: string): Param<number | undefined> {
  const parse = (input: string) => {
    const [, amount, unit = 's'] = /^(\d{1,9})([smhd])?$/.exec(input) ?? []
    const seconds = amount === undefined ? 0 : Number(amount) * (secondsPerUnit[unit] ?? 0)
    if (seconds < 1) throw new InvalidParamError('it must be a number of seconds, or a number with s, m, h or d')
    return seconds
  }
  return { ...optionalParam, metavar, help: `${help}, such as 90, 15m, 8h or 30d`, parse, defaultValue: undefined }
}

/** An instant, RFC 3339 in UTC. */
export function instant(metavar: string, help: string): Param<string | undefined> {
  const parse = (input: string) => {
    const instant_ms = Date.parse(input)
    if (Number.isNaN(instant_ms) || !/^\d{4}-\d\d-\d\d/.test(input))
      throw new InvalidParamError('it must be a date or an RFC 3339 time')
    return new Date(instant_ms).toISOString()
  }
  return { ...optionalParam, metavar, help, parse, defaultValue: undefined }
}

/** The same parameter, but mandatory. */
export function required<T>(param: Param<T>): Param<NonNullable<T>> {
  return { ...param, isRequired: true } as Param<NonNullable<T>>
}

/** The same parameter with a default value. */
export function withDefault<T>(value: NonNullable<T>, param: Param<T>): Param<NonNullable<T>> {
  return { ...param, defaultValue: value, help: `${param.help} (default: ${String(value)})` } as Param<NonNullable<T>>
}

/** All remaining words, possibly none. */
export function rest(metavar: string, help: string): Param<readonly string[]> {
  return { ...optionalParam, isRest: true, metavar, help, parse: (input) => input, defaultValue: [] }
}
