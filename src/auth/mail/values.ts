/** Values of the variables of a message, as a client sends them. */
import * as v from 'valibot'
import { valueFault } from '../../wire/templates.ts'
import { withoutLists } from '../shared/strict-object.ts'

/** Characters of the value of a variable. */
const longestValue = 4_000
/** Characters of all values of a message together: a template may show each of them 100 times. */
const longestValues = 16_000

/** Values of variables, by their names. */
export const values = v.pipe(
  withoutLists(
    v.record(
      v.string(),
      v.pipe(
        v.string(),
        v.maxLength(longestValue),
        v.check(
          (value) => valueFault(value) === undefined,
          'a value has no control characters beside line breaks and tabs',
        ),
      ),
    ),
  ),
  v.check(
    (given) => Object.values(given).reduce((sum, value) => sum + value.length, 0) <= longestValues,
    `the values have ${longestValues} characters at most`,
  ),
)
