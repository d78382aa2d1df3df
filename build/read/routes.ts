/** Reads methods with a decorator of the SDK: routes of controllers, and handlers of webhooks. */
import type { Member } from '../declaration.ts'
import { sdkName } from '../declaration.ts'
import type { Program } from '../program.ts'
import type { MemberSyntax, SourceFile } from '../source-file.ts'
import { readDecorators } from './decorators.ts'

export function readMembers(program: Program, file: SourceFile, members: readonly MemberSyntax[]): Member[] {
  return members
    .map(({ name, place, line, unfit, decorators, parameters, result }) => ({
      name,
      place,
      line,
      unfit,
      decorators: readDecorators(program, file, decorators),
      result,
      parameters: parameters.map((parameter) => ({
        name: parameter.name,
        place: parameter.place,
        decorators: readDecorators(program, file, parameter.decorators),
        type: parameter.type,
        typePlace: parameter.typePlace,
        typeNames: parameter.decorators.length > 0 ? namesOf(program, file, parameter.typeNames) : [],
      })),
    }))
    .filter(
      ({ decorators, parameters }) =>
        decorators.length > 0 || parameters.some((parameter) => parameter.decorators.length > 0),
    )
    .map(({ result, ...member }) => {
      // only webhooks drop results, and looking up types takes time
      const isDropped =
        result && member.decorators.some(({ name }) => name === 'On') && isAnyValue(program, file, result.typeNames)
      return { ...member, result: isDropped ? { text: result.text, place: result.place } : undefined }
    })
}

/** Types of results that a webhook does not drop: no value, a `Response`, or a type that says nothing. */
const noValues = new Set(['void', 'undefined', 'null', 'never', 'any', 'unknown', 'Promise', 'Response', 'globalThis'])

/** @param names in the declared type, or `undefined` where the result is a value that the code writes out. */
function isAnyValue(program: Program, file: SourceFile, names: readonly string[] | undefined, depth = 0): boolean {
  if (!names) return true
  return names.some((name) => {
    if (noValues.has(name)) return false
    const inner = depth < 3 ? program.namesInType(file, name) : undefined
    return !inner || isAnyValue(program, file, inner, depth + 1)
  })
}

/** The names in a type. The SDK's types have their own names, also where the file renames them, and aliases are resolved. */
function namesOf(program: Program, file: SourceFile, names: readonly string[], depth = 0): string[] {
  return names.flatMap((name) => {
    const origin = file.imports.get(name)
    if (origin?.from === sdkName) return [origin.name]
    const inner = depth < 3 ? program.namesInType(file, name) : undefined
    return inner ? [name, ...namesOf(program, file, inner, depth + 1)] : [name]
  })
}
