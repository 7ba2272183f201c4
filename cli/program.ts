// Turns definitions into commander's commands, and finds which of them the words typed mean.
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { type AnyDefinition, type Exit, type Param, type Params, WrongValue } from './command.ts'
import { type Catalogue, catalogue, groups } from './commands.ts'
import { report } from './failure.ts'
import type { Terminal } from './terminal.ts'

/** Runs what was typed; resolves to the exit code. Only the modules that these words need are loaded. */
export async function runProgram(typed: readonly string[], terminal: Terminal): Promise<Exit> {
  const argv = typed.length === 0 ? ['--help'] : (aliases[typed[0] ?? '']?.(typed.slice(1)) ?? typed)
  let exit: Exit = 0
  try {
    const program = await programFor(argv, terminal, (code) => {
      exit = code
    })
    await program.parseAsync([...argv], { from: 'user' })
    return exit
  } catch (error) {
    // Commander has printed its message already; asking for help is no error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    return report(terminal, error)
  }
}

/** What people type by habit. */
const aliases: Readonly<Record<string, (rest: readonly string[]) => string[]>> = {
  help: (rest) => [...rest, '--help'],
  '--version': () => ['version'],
  '-V': () => ['version'],
}

async function programFor(argv: readonly string[], terminal: Terminal, ended: (code: Exit) => void): Promise<Command> {
  const typed = argv.slice(
    0,
    indexOrEnd(argv, (word) => word.startsWith('-')),
  )
  const program = styled(new Command('platform'), terminal)
    .description('One executable for air-gapped sites')
    .usage('<command> [options]')
    .addHelpText('after', '\nExample:\n  $ platform init --site ./site --tenant acme --yes')
  for (const definition of await definitionsFor(typed)) place(program, definition, terminal, ended)
  return program
}

/** The one command that the words name, else all that could have been meant: those of the group, or of the top. */
async function definitionsFor(typed: readonly string[]): Promise<AnyDefinition[]> {
  const exact = longestMatch(typed)
  const words = exact ? [exact] : wordsBeside(typed)
  return await Promise.all(words.map(async (known) => (await catalogue[known as keyof Catalogue]()).definition))
}

function longestMatch(typed: readonly string[]): string | undefined {
  for (let length = Math.min(typed.length, 3); length > 0; length--) {
    const words = typed.slice(0, length).join(' ')
    if (words in catalogue) return words
  }
  return undefined
}

function wordsBeside(typed: readonly string[]): string[] {
  const known = Object.keys(catalogue)
  const [group] = typed
  const inGroup = known.filter((words) => group !== undefined && words.startsWith(`${group} `))
  if (inGroup.length > 0) return inGroup
  // A group shows itself at the top by one of its commands; its summary needs no module.
  return known.filter(
    (words, at) => !words.includes(' ') || known.findIndex((other) => startOf(other) === startOf(words)) === at,
  )
}

const startOf = (words: string) => words.split(' ')[0]

function place(program: Command, definition: AnyDefinition, terminal: Terminal, ended: (code: Exit) => void): void {
  const words = definition.words.split(' ')
  let parent = program
  for (const [at, word] of words.slice(0, -1).entries()) {
    const path = words.slice(0, at + 1).join(' ')
    const known = parent.commands.find((child) => child.name() === word)
    parent = known ?? group(parent, path, word, terminal)
  }
  parent.addCommand(commandOf(definition, terminal, ended))
}

function group(parent: Command, path: string, word: string, terminal: Terminal): Command {
  const made = styled(new Command(word), terminal).description(groups[path] ?? '')
  made.addHelpText('after', () => `\nExample:\n  $ platform ${path} ${made.commands[0]?.name() ?? ''} --help`)
  parent.addCommand(made)
  return made
}

function commandOf(definition: AnyDefinition, terminal: Terminal, ended: (code: Exit) => void): Command {
  const { words, summary, notes, example } = definition
  const takes: Params = definition.takes ?? {}
  const options: Params = definition.options ?? {}
  const made = styled(new Command(words.split(' ').at(-1) ?? words), terminal)
    .summary(summary)
    .allowExcessArguments(false)
  // Help is wrapped by its own width: lines of the source would break it a second time.
  made.description(notes ? `${summary}\n\n${notes.replaceAll(/(?<!\n)\n(?!\n)/g, ' ')}` : summary)
  for (const [name, param] of Object.entries(takes)) made.addArgument(argumentOf(name, param))
  for (const [name, param] of Object.entries(options)) made.addOption(optionOf(name, param))
  made.addHelpText('after', `\nExample:\n  $ ${example.split('\n').join('\n  $ ')}`)
  made.action(async (...heard: unknown[]) => {
    const byPlace = Object.keys(takes).map((name, at) => [name, heard[at] ?? takes[name]?.absent])
    const absent = Object.entries(options).map(([name, param]) => [name, param.absent])
    const given = { ...Object.fromEntries([...byPlace, ...absent]), ...made.opts() }
    ended(await definition.run(given, terminal))
  })
  return made
}

function styled(made: Command, terminal: Terminal): Command {
  return made
    .configureOutput({
      writeOut: (given) => terminal.print(given.replace(/\n$/, '')),
      writeErr: (given) => terminal.note(given.replace(/\n$/, '')),
    })
    .exitOverride()
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: false, helpWidth: 100 })
    .showSuggestionAfterError(true)
    .showHelpAfterError('add --help to see how it is used')
}

function argumentOf(name: string, param: Param<unknown>): Argument {
  const shown = param.metavar ?? name
  const dots = param.isRest ? '...' : ''
  const made = new Argument(param.isRequired ? `<${shown}${dots}>` : `[${shown}${dots}]`, param.help)
  if (!param.isRest) made.argParser((given) => parsed(param, given))
  return made
}

function optionOf(name: string, param: Param<unknown>): Option {
  const long = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  const dots = param.isRest ? '...' : ''
  const made = new Option(param.metavar === undefined ? long : `${long} <${param.metavar}${dots}>`, param.help)
  if (param.isRequired) made.makeOptionMandatory()
  if (param.metavar !== undefined && !param.isRest) made.argParser((given) => parsed(param, given))
  return made
}

function parsed(param: Param<unknown>, given: string): unknown {
  try {
    return param.parse(given)
  } catch (error) {
    if (error instanceof WrongValue) throw new InvalidArgumentError(error.message)
    throw error
  }
}

function indexOrEnd<T>(list: readonly T[], holds: (item: T) => boolean): number {
  const at = list.findIndex(holds)
  return at < 0 ? list.length : at
}
