// Altered documents that the product and the Python script judge differently, each with the reason why that is right.

type Disagreement = {
  /** As the differential test names it. */
  readonly document: string
  readonly reason: string
}

const by_type = 'the product judges a file by the typ of its signatures, the script by its name; both refuse it'

/** An entry whose disagreement is gone fails the test as well. */
export const disagreements: readonly Disagreement[] = [
  {
    document:
      'alpha-to-bravo-0000000000000001/00000001-0000000000000001.env.json header 2: signed as gap-receipt (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'alpha-to-bravo-0000000000000001/00000001-0000000000000002.env.json header 0: signed as epoch (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'alpha-to-bravo-0000000000000001/00000001-0000000000000002.env.json header 2: signed as gap-receipt (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'alpha-to-bravo-0000000000000001/00000001-0000000000000003.env.json header 0: signed as keyset (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'alpha-to-bravo-0000000000000001/00000001-0000000000000003.env.json header 1: signed as epoch (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'alpha-to-bravo-0000000000000001/00000001-0000000000000003.env.json header 2: signed as release (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'alpha-to-bravo-0000000000000001/00000001-0000000000000004.env.json header 1: signed as release (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'alpha-to-bravo-0000000000000001/00000001-0000000000000005.env.json header 0: signed as manifest (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'alpha-to-bravo-0000000000000001/00000001-0000000000000005.env.json header 2: signed as manifest (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'alpha-to-bravo-0000000000000001/00000001-0000000000000006.env.json header 0: signed as keyset (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'alpha-to-bravo-0000000000000001/00000001-0000000000000006.env.json header 1: signed as keyset (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'alpha-to-bravo-0000000000000001/00000001-0000000000000006.env.json header 2: signed as manifest (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'alpha-to-bravo-0000000000000001/00000001-0000000000000007.env.json header 1: signed as gap-receipt (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'alpha-to-bravo-0000000000000001/00000001-0000000000000007.env.json header 2: signed as keyset (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'alpha-to-bravo-0000000000000001/00000001-0000000000000009.env.json header 1: signed as manifest (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'alpha-to-bravo-0000000000000001/00000001-0000000000000010.env.json header 0: signed as release (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'alpha-to-bravo-0000000000000001/00000001-0000000000000010.env.json header 2: signed as epoch (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'alpha-to-bravo-0000000000000001/00000001-0000000000000011.env.json header 0: signed as epoch (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'alpha-to-bravo-0000000000000001/00000001-0000000000000011.env.json header 1: signed as manifest (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'alpha-to-bravo-0000000000000001/00000001-0000000000000011.env.json header 2: signed as release (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'alpha-to-bravo-0000000000000001/00000001-0000000000000012.env.json header 1: signed as manifest (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'alpha-to-bravo-0000000000000001/00000001-0000000000000012.env.json header 2: signed as epoch (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'epoch-2/00000002-0000000000000001.env.json header 0: signed as epoch (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'epoch-2/00000002-0000000000000001.env.json header 1: signed as manifest (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'epoch-2-two-roots/00000002-0000000000000001.env.json header 1: signed as gap-receipt (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
  {
    document:
      'epoch-2-two-roots/00000002-0000000000000001.env.json header 2: signed as gap-receipt (product: REFUSED, script: BAD_SIG)',
    reason: by_type,
  },
]
