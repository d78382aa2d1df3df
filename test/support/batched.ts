/**
 * Runs the cases 16 at a time, so that workerd is busy and not overloaded.
 * @param run returns what is wrong, or `undefined`.
 * @returns one text for each case that failed: its name and its problem.
 */
export async function batched<T>(
  cases: readonly (readonly [name: string, value: T])[],
  run: (value: T) => Promise<string | undefined>,
): Promise<string[]> {
  const failed: string[] = []
  for (let start = 0; start < cases.length; start += 16) {
    const batch = cases.slice(start, start + 16)
    const results = await Promise.all(
      batch.map(async ([what, value]) => {
        const problem = await run(value).catch(String)
        return problem === undefined ? undefined : `${what}: ${problem}`
      }),
    )
    failed.push(...results.filter((result) => result !== undefined))
  }
  return failed
}
