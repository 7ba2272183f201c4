// One line of text, coloured by its tone if the terminal allows colours.
import { Text } from 'ink'
import { createContext, useContext } from 'react'
import type { Tone } from '../tables.ts'

/** Whether to use colours; Ink itself does not read NO_COLOR. */
export const ColourContext = createContext(false)

const toneColours = { good: 'green', bad: 'red', warn: 'yellow', faint: 'gray' } as const

type ToneTextProps = {
  readonly text: string
  readonly tone?: Tone | undefined
  readonly isBold?: boolean
  readonly isInverse?: boolean
}

/** One line of text, truncated to fit. */
export function ToneText({ text, tone, isBold = false, isInverse = false }: ToneTextProps) {
  const colour = useContext(ColourContext) && tone ? { color: toneColours[tone] } : {}
  return (
    <Text wrap="truncate-end" bold={isBold} inverse={isInverse} {...colour}>
      {text}
    </Text>
  )
}
