/** A text of 255 words for voices to say. */
export const STORY =
  "The harbour was quiet when the first boats came in that morning. Fishermen carried their " +
  "baskets along the stone pier, and the gulls followed them in a noisy crowd. A young woman " +
  "stood beside the old lighthouse and waited for her brother, who had been at sea for nearly " +
  "three weeks. She had brought bread, cheese, and a bottle of water, because she knew that " +
  "he would be hungry. The wind turned to the west, and dark clouds gathered above the hills. " +
  "An hour later the rain began to fall. People ran into the shops and cafes along the main " +
  "street, and laughed about their wet shoes. In the library, a teacher was reading a story " +
  "to a group of children. The story was about a king who wanted to count every star in the " +
  "sky. He hired a hundred clerks and gave each of them a small part of the heavens. They " +
  "worked for many years, but the numbers never agreed, because new stars appeared whenever " +
  "they looked again. At last the king understood that some things are better admired than " +
  "measured. When the rain stopped, the children went outside and looked for a rainbow. The " +
  "boat arrived in the afternoon. Her brother waved from the deck, and she waved back with " +
  "both arms. They walked home together through the wet streets, and he told her about the " +
  "storms, the whales, and the long nights without a moon. That evening the whole family sat " +
  "around the table, and nobody wanted to go to bed."
