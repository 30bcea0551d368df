/**
 * Version of the contract with partners, as the OpenAPI document and the API's changelog state it. The first number is that of
 * the paths, and stays; the second rises with what is added; the third with what is only described better.
 */
export const CONTRACT_VERSION = '1.1.0';
